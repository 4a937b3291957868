package step

import (
	"math"
	"strconv"
	"strings"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/speed/coef"
)

// Classes of frameworks with similar kernels and schedules: Megatron's, those that shard weights with PyTorch FSDP or similarly,
// and those that run transformers' modules unmodified.
const (
	megatron = "megatron"
	sharded  = "sharded"
	eager    = "eager"
	early    = "early" // Megatron of 2021 and 2022, before fused attention
)

// classes of known frameworks; others count as sharded.
var classes = map[string]string{
	"megatron": megatron, "megatron-lm": megatron, "megatron-bridge": megatron, "nemo": megatron, "primus": megatron, "megatron-deepspeed": megatron, "mcore": megatron, "hai-llm": megatron,
	"transformers": eager, "deepspeed": eager, "peft": eager, "trl": eager, "ms-swift": eager, "axolotl": eager, "unsloth": eager, "llama-factory": eager,
}

// framework splits a framework such as "megatron-bridge@26.04" into name and version.
func (m *Model) framework() (name, version string) {
	name, version, _ = strings.Cut(strings.ToLower(m.in.Training.Framework), "@")
	return name, version
}

func (m *Model) class() string {
	name, _ := m.framework()
	c, ok := classes[name]
	switch {
	case !ok:
		return sharded
	case c == megatron && m.in.Plan.Attention == "eager":
		return early
	}
	return c
}

// Family returns the group of devices that reach similar fractions of their peaks: chips of one instruction set, with boards
// without a fast link separate from those with one.
func Family(d *hardware.Device) string { return d.Architecture + "/" + d.Capability }

// release returns the release of a framework numbered by year and month, "26.04"; "" for others.
func (m *Model) release() string {
	_, v := m.framework()
	year, rest, ok := strings.Cut(v, ".")
	if y, err := strconv.Atoi(year); !ok || err != nil || y < 23 {
		return ""
	}
	month, _, _ := strings.Cut(rest, ".")
	return year + "." + month
}

// deviceLevels appends the levels that a device coefficient inherits along.
func (m *Model) deviceLevels(out []coef.Level) []coef.Level {
	d := m.device
	return append(out, coef.Level{Name: "vendor", Key: d.Vendor}, coef.Level{Name: "form", Key: d.Form}, coef.Level{Name: "architecture", Key: d.Architecture},
		coef.Level{Name: "family", Key: Family(d)}, coef.Level{Name: "device", Key: d.ID}, coef.Level{Name: "power", Key: "all", By: m.starved()})
}

// ample is the power per 16-bit operation at peak beyond which matmuls are not power limited: that of an H100, 700 W for 989
// TFLOPS. Narrower operations take proportionally less energy.
const ample = 700 / 989e12

// starved returns how far a device's power per operation is below ample, as a logarithm; 0 if unknown.
func (m *Model) starved() float64 {
	if !m.device.TDP.Known {
		return zero
	}
	return math.Min(zero, math.Log(float64(m.device.TDP.Value)/m.format.wide/ample))
}

// clock returns the fraction of its clock that a device keeps when all tensor cores work: power grows with the cube of the clock,
// since voltage rises with it (Chandrakasan et al., IEEE JSSC 27(4), 1992), so that the clock follows the cube root of the
// available power.
func (m *Model) clock() float64 { return math.Exp(m.starved() / 3) }

// zero stands for 0 as a covariate: the table takes an exact 0 for one not given.
const zero = -1e-9

// softwareLevels appends the levels that a framework coefficient inherits along.
func (m *Model) softwareLevels(out []coef.Level) []coef.Level {
	name, _ := m.framework()
	c, t := m.class(), m.in.Training
	out = append(out, coef.Level{Name: "class", Key: c}, coef.Level{Name: "framework", Key: name})
	if c == eager && m.mixed() {
		out = append(out, coef.Level{Name: "mixed", Key: c})
	}
	if strings.Contains(name, "deepspeed") {
		out = append(out, coef.Level{Name: "engine", Key: "deepspeed"})
	}
	if on(t.Compile) || on(t.Fused) {
		out = append(out, coef.Level{Name: "fused", Key: "all"}, coef.Level{Name: "class-fused", Key: c})
	}
	if m.overlaps() {
		out = append(out, coef.Level{Name: "overlap", Key: "all"})
	}
	return out
}

// mixed reports whether weights are kept wider than they are multiplied in, so that some operators run in FP32.
func (m *Model) mixed() bool { return strings.HasSuffix(m.precision(), "-mixed") }

// overlaps reports whether gradients are reduced while others are computed. Megatron's early data parallelism and DeepSpeed's
// ZeRO-1 reduce them after the last pass.
func (m *Model) overlaps() bool {
	name, _ := m.framework()
	return m.class() != early && !strings.Contains(name, "deepspeed")
}
