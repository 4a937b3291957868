// Package speed says what the steps of a model do on one rank of a machine: its operator list becomes
// kernels with operations and bytes (kernel.go), a batch becomes a point that these are evaluated at
// (batch.go), and what an answer says of time is a Figure (figure.go). How long a kernel takes is fitted to
// measurements, by speed/stream for engines that serve one stream and by speed/serving for those that batch.
//
// Law: no prediction beats the datasheet. What has to be read takes its bytes over the memory's rate, what has
// to be multiplied its operations over the peak.
package speed

import (
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/unit"
)

// Arithmetic is the format that a matrix stored by a scheme is multiplied in on a device: 8 and 4 bits where
// scheme and device have them, else 16 bits of what the device has, weights being unpacked on the way.
func Arithmetic(d *hardware.Device, s *dtype.Scheme) (format string, peak hardware.Fact[unit.FLOPRate]) {
	for _, f := range operands(d, s) {
		if p := d.Peaks.At(f); p.Known {
			return f, p
		}
	}
	return "", hardware.Fact[unit.FLOPRate]{}
}

// operands are the formats that both sides of a product may have, the narrowest first. Schemes that store
// weights alone in few bits (AWQ, GPTQ, GGUF, NF4) are multiplied in 16.
func operands(d *hardware.Device, s *dtype.Scheme) []string {
	wide := []string{"bf16", "fp16", "fp32"}
	if s == nil {
		return wide
	}
	switch {
	case s == dtype.MXFP4Split && d.Peaks.FP4.Known: // its activations are MXFP8
		return append([]string{"fp8"}, wide...)
	case s == dtype.NVFP4Split && d.Peaks.FP4.Known: // else Marlin's kernels multiply in 16 bits (vllm, marlin_utils_fp4.py)
		return append([]string{"fp4"}, wide...)
	case strings.HasPrefix(s.Name, "fp8") || strings.HasPrefix(s.Name, "mxfp8") || s == dtype.W4A8AWQ:
		return append([]string{"fp8"}, wide...)
	case s == dtype.Int8Channel || s == dtype.LLMInt8:
		return append([]string{"int8"}, wide...)
	case s.Elem == dtype.F32:
		return []string{"tf32", "fp32"}
	}
	return wide
}
