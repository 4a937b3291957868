// Package speed describes what the steps of a model do on one rank of a machine: the operator list becomes kernels with
// FLOPs and bytes (kernel.go), a batch becomes the point at which they are evaluated (batch.go), and predicted times
// are Figures (figure.go). The time that a kernel takes is fitted to measurements, in speed/stream for engines that
// serve a single stream and in speed/serving for those with continuous batching.
//
// No prediction beats the datasheet: reading takes at least the bytes over the memory bandwidth, and multiplying at
// least the FLOPs over the peak.
package speed

import (
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/unit"
)

// Arithmetic returns the format in which a matrix stored under a scheme is multiplied on a device, with its peak: 8 or
// 4 bits if both scheme and device support them, else the device's 16-bit format, with weights unpacked on the fly.
func Arithmetic(d *hardware.Device, s *dtype.Scheme) (format string, peak hardware.Fact[unit.FLOPRate]) {
	for _, f := range operands(d, s) {
		if p := d.Peaks.At(f); p.Known {
			return f, p
		}
	}
	return "", hardware.Fact[unit.FLOPRate]{}
}

// operands returns the possible operand formats of a matmul, narrowest first. Weight-only schemes (AWQ, GPTQ, GGUF,
// NF4) multiply in 16 bits.
func operands(d *hardware.Device, s *dtype.Scheme) []string {
	wide := []string{"bf16", "fp16", "fp32"}
	if s == nil {
		return wide
	}
	switch {
	case s == dtype.MXFP4Split && d.Peaks.FP4.Known: // with MXFP8 activations
		return append([]string{"fp8"}, wide...)
	case s == dtype.NVFP4Split && d.Peaks.FP4.Known: // otherwise Marlin multiplies in 16 bits (vllm, marlin_utils_fp4.py)
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
