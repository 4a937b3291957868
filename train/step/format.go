package step

import (
	"strings"

	"github.com/memwall/memwall/plan"
)

// format is the format of matmuls: 16 bits, or fewer in the layers where the precision says so. Head, router and attention stay in
// 16 bits under all published recipes (Transformer Engine, torchao, Megatron).
type format struct {
	wide, narrow float64 // peaks, operations per second; narrow is 0 if there is none
	name         string  // "fp8", "mxfp8", "nvfp4" ...; "" without
	bytes        float64 // of a narrow number with its scale
	clock        float64 // fraction of the clock behind the peaks that the device keeps
}

// special reports whether the format differs from FP8 with per-tensor scales, which the coefficients start from.
func (f *format) special() bool { return f.narrow > 0 && f.name != "fp8" }

// narrow formats: the peak they use, and bytes per number with its scale (OCP MX 1.0: one byte per 32; NVFP4: one per 16).
var narrow = map[string]struct {
	peak  string
	bytes float64
}{"fp8": {"fp8", 1}, "fp8-rowwise": {"fp8", 1}, "mxfp8": {"fp8", 1 + 1.0/32}, "nvfp4": {"fp4", 0.5 + 1.0/16}}

func (m *Model) arithmetic() error {
	d := m.device
	wide := "bf16"
	switch p := m.precision(); {
	case strings.HasPrefix(p, "fp16"):
		wide = "fp16"
	case p == "fp32" || p == "tf32":
		wide = p
	}
	peak := d.Peaks.At(wide)
	if !peak.Known {
		return m.noPeak(wide)
	}
	m.format.wide = float64(peak.Value)
	m.format.clock = m.clock()
	n, ok := narrow[m.precision()]
	if !ok {
		return nil
	}
	if peak = d.Peaks.At(n.peak); !peak.Known {
		return m.noPeak(n.peak)
	}
	m.format.narrow, m.format.name, m.format.bytes = float64(peak.Value), m.precision(), n.bytes
	return nil
}

func (m *Model) noPeak(format string) error {
	return &plan.Problem{Field: "precision", Value: m.in.Training.Precision, Message: "no peak of " + m.device.ID + " is known for " + format,
		Fix: "another precision, or a device with " + format, Lacking: true}
}
