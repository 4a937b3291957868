package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/plan"
)

// refusal is a combination that does not run.
type refusal struct {
	field string
	when  func(in *Input) bool
	// why stands behind "field = value"; fix is the nearest that runs.
	why, fix string
}

// check refuses what a framework cannot say or does not run.
func check(f *framework, in *Input) error {
	if err := sane(in); err != nil {
		return err
	}
	for _, r := range f.refuses {
		if r.when(in) {
			return f.refuse(in, r.field, valueOf(in, r.field), r.why, r.fix)
		}
	}
	for _, x := range fields() {
		v := x.of(in)
		if v == "" || f.can(x.name, v) || f.can(x.name, kind(v)) {
			continue
		}
		return f.refuse(in, x.name, v, "is not among the settings of "+f.title+wordless(f, x.name), f.nearest(x.name, v))
	}
	return nil
}

// Trains reports whether a framework has a model; some train those alone that they know.
func Trains(framework, model, hub string) bool {
	f, err := find(framework)
	in := &Input{Model: model, Hub: hub}
	return err == nil && !slices.ContainsFunc(f.refuses, func(r refusal) bool { return r.field == "model" && r.when(in) })
}

// Has reports whether a framework's settings can say a value of a field; false if its configurations are not written.
func Has(framework, field, value string) bool {
	f, err := find(framework)
	return err == nil && f.can(field, value)
}

func wordless(f *framework, field string) string {
	if _, some := f.says[field]; some {
		return ""
	}
	return ": " + unsaid[field]
}

// refuse makes the problem and names the frameworks that take the plan as it stands.
func (f *framework) refuse(in *Input, field, value, why, fix string) error {
	if others := allowing(f, in, field, value); others != "" {
		fix += "; " + others
	}
	return &plan.Problem{Field: field, Value: value, Message: fmt.Sprintf("%s = %s %s", field, value, why), Fix: fix, Impossible: true}
}

// allowing names formats that have words for the value and refuse no combination of that field.
func allowing(not *framework, in *Input, field, value string) string {
	var names []string
	for _, f := range all() {
		if f.name != not.name && (f.can(field, value) || f.can(field, kind(value))) && !f.objects(in, field) {
			names = append(names, f.name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return strings.Join(names, ", ") + " can"
}

func (f *framework) objects(in *Input, field string) bool {
	for _, r := range f.refuses {
		if r.field == field && r.when(in) {
			return true
		}
	}
	return false
}

// nearest is the setting to use in place of a value.
func (f *framework) nearest(field, value string) string {
	for w := range strings.FieldsSeq(near[kind(value)]) {
		if f.can(field, w) {
			return field + " = " + w
		}
	}
	first := strings.Join(append(f.values(field), "")[:1], "")
	switch {
	case has("tp pp vpp cp ep etp", field):
		return field + " = 1"
	case has("fused_loss fused_kernels compile packing sequence_parallel", field):
		return field + " = false"
	case strings.HasPrefix(field, "offload."):
		return field + " = none"
	case first != "" && first != "*":
		return field + " = " + first
	}
	return "without " + field
}

func valueOf(in *Input, name string) string {
	for _, x := range fields() {
		if x.name == name {
			if v := x.of(in); v != "" {
				return v
			}
		}
	}
	switch name {
	case "model":
		return in.Model
	case "global_batch":
		return fmt.Sprint(in.Training.GlobalBatch)
	case "accumulation":
		return fmt.Sprint(in.Training.Accumulation)
	case "devices":
		return fmt.Sprint(in.Devices)
	case "dp":
		return fmt.Sprint(replicas(in))
	}
	return "none"
}

// sane refuses what no framework runs.
func sane(in *Input) error {
	if err := in.Plan.Check(); err != nil {
		return err
	}
	if err := complete(in); err != nil {
		return err
	}
	t := &in.Training
	product := int64(t.MicroBatch) * int64(t.Accumulation) * replicas(in)
	for _, r := range []refusal{
		{"vpp", func(in *Input) bool { return t.VPP > 1 && in.Plan.PP <= 1 }, "needs a pipeline", "vpp = 1, or pp = 2"},
		{"tp", func(in *Input) bool { return in.Plan.TP > 1 && t.Method == "qlora" }, "cannot split weights that bitsandbytes or torchao quantised; no framework here does", "tp = 1, or method = lora"},
		{"pp", func(in *Input) bool { return in.Plan.PP > 1 && t.Method == "qlora" }, "has no framework here that puts quantised weights on stages", "pp = 1, or method = lora"},
		{"dp", func(in *Input) bool { return in.Devices%ranks(in) != 0 || in.Plan.DP*ranks(in) > in.Devices }, fmt.Sprintf("x tp x pp x cp is not %d devices", in.Devices), fmt.Sprintf("dp x %d = %d devices", ranks(in), in.Devices)},
		{"global_batch", func(*Input) bool { return t.GlobalBatch > 0 && product > 0 && int64(t.GlobalBatch) != product }, fmt.Sprintf("is not micro_batch x accumulation x dp = %d", product), fmt.Sprintf("global_batch = %d", product)},
		{"modules_to_save", func(*Input) bool { return len(t.Full) > 0 && t.Method == "full" }, "stand beside adapters; all modules are trained in full", "without modules_to_save, or method = lora"},
		{"devices", func(in *Input) bool { return in.Devices%in.Nodes != 0 }, fmt.Sprintf("are not the same on each of %d nodes", in.Nodes), "a multiple of the nodes"},
	} {
		if r.when(in) {
			v := valueOf(in, r.field)
			return &plan.Problem{Field: r.field, Value: v, Message: fmt.Sprintf("%s = %s %s", r.field, v, r.why), Fix: r.fix, Impossible: true}
		}
	}
	return nil
}

// complete asks for what every framework needs.
func complete(in *Input) error {
	t := &in.Training
	for _, c := range []struct {
		field string
		given bool
	}{
		{"model", in.Model != "" || in.Hub != ""}, {"objective", t.Objective != ""}, {"method", t.Method != ""}, {"optimizer", t.Optimizer != ""}, {"precision", t.Precision != ""},
		{"sharding", t.Sharding != ""}, {"recompute", t.Recompute != ""}, {"sequence_length", t.SequenceLength > 0}, {"micro_batch", t.MicroBatch > 0}, {"accumulation", t.Accumulation > 0},
		{"lora_rank", t.LoRARank > 0 || !adapted(in)}, {"lora_targets", len(t.LoRA) > 0 || !adapted(in)},
	} {
		if !c.given {
			return &plan.Problem{Field: c.field, Message: c.field + " is not given, and a configuration says it", Fix: "fill in the defaults of a framework first"}
		}
	}
	return nil
}
