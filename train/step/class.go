package step

import (
	"strconv"
	"strings"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/speed/coef"
)

// Classes of frameworks, whose kernels and schedules are alike: Megatron's, those that shard weights with PyTorch's
// FSDP or like it, and those on transformers' modules as they stand.
const (
	megatron = "megatron"
	sharded  = "sharded"
	eager    = "eager"
	early    = "early" // Megatron of 2021 and 2022, before fused attention
)

// classes of the frameworks that are known; others count as sharded.
var classes = map[string]string{
	"megatron": megatron, "megatron-lm": megatron, "megatron-bridge": megatron, "nemo": megatron, "primus": megatron, "megatron-deepspeed": megatron, "mcore": megatron,
	"transformers": eager, "deepspeed": eager, "peft": eager, "trl": eager, "ms-swift": eager, "axolotl": eager, "unsloth": eager, "llama-factory": eager,
}

// framework splits "megatron-bridge@26.04".
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

// Family is the group of devices that reach like shares of their peaks: chips of one instruction set, and boards
// without a fast link apart from those with.
func Family(d *hardware.Device) string { return d.Architecture + "/" + d.Capability }

// release of a framework that is numbered by year and month: "26.04"; "" for others.
func (m *Model) release() string {
	_, v := m.framework()
	year, rest, ok := strings.Cut(v, ".")
	if y, err := strconv.Atoi(year); !ok || err != nil || y < 23 {
		return ""
	}
	month, _, _ := strings.Cut(rest, ".")
	return year + "." + month
}

// levels that a coefficient of the device inherits along.
func (m *Model) deviceLevels() []coef.Level {
	d := m.device
	return []coef.Level{{Name: "all"}, {Name: "vendor", Key: d.Vendor}, {Name: "form", Key: d.Form}, {Name: "architecture", Key: d.Architecture}, {Name: "family", Key: Family(d)}, {Name: "device", Key: d.ID}}
}

// softwareLevels that a coefficient of the framework inherits along.
func (m *Model) softwareLevels() []coef.Level {
	name, _ := m.framework()
	c := m.class()
	out := []coef.Level{{Name: "all"}, {Name: "class", Key: c}, {Name: "framework", Key: name}}
	t := m.in.Training
	out = append(out, coef.Level{Name: "mixed", Key: c + "/" + strconv.FormatBool(m.mixed())})
	if on(t.Compile) {
		out = append(out, coef.Level{Name: "compiled", Key: c})
	}
	if on(t.Fused) {
		out = append(out, coef.Level{Name: "fused", Key: c})
	}
	if m.frozen() {
		out = append(out, coef.Level{Name: "adapters", Key: c})
	}
	return out
}

// mixed: weights are kept wider than they are multiplied in, so that some operators run in 32 bits.
func (m *Model) mixed() bool { return strings.HasSuffix(m.precision(), "-mixed") }
