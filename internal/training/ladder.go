package training

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/planner/change"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// What a training plan may change to fit, from what costs nothing to what trains another thing. Prices are points as in
// internal/planner/price.go; a step that takes twice as long costs as many as an answer that does.

// Prices of changes that train another thing, or need more hardware.
const (
	otherStates   = 1  // an optimizer that keeps less
	adapters      = 8  // some matrices instead of all weights
	shorterSample = 12 // half of each sample
)

// suggest tries single changes and keeps those that help a plan that does not fit beyond doubt, those that mend it first,
// the cheapest first.
func (t *Training) suggest(a *api.Answer) []api.Suggestion {
	if a.Verdict != api.Tight && a.Verdict != api.DoesNotFit {
		return nil
	}
	return t.Changes(a, "")
}

// Changes are the single changes that help, whatever the verdict. With the name of a phase of the step, what a change saves is
// counted there and not at the peak.
func (t *Training) Changes(a *api.Answer, phase string) []api.Suggestion {
	again := change.SameModelEnv(t.Question)
	type rung struct {
		api.Suggestion
		price float64
	}
	var all []rung
	for _, s := range t.rungs() {
		r := t.Question.Original
		r.Explain = false
		s.Set(&r)
		b, err := Trained(again, &r)
		if err != nil {
			continue
		}
		c := b.Answer()
		saves := InPhase(&a.Devices[0], phase) - InPhase(&c.Devices[0], phase)
		if saves < max(1, -a.Devices[0].Headroom/20) && question.VerdictSeverity[c.Verdict] >= question.VerdictSeverity[a.Verdict] {
			continue
		}
		x := rung{api.Suggestion{Change: s.Words, Patch: change.PatchOf(&t.Question.Original, &r), Saves: saves, Verdict: c.Verdict, Phases: c.Devices[0].Phases}, s.Price}
		if a.Step != nil && c.Step != nil {
			x.Speed = question.Rounded(c.Step.PerDevice / a.Step.PerDevice)
			x.price += max(0, change.PriceOfDoubling[""]*(1/(*x.Speed)-1))
		}
		all = append(all, x)
	}
	slices.SortStableFunc(all, func(x, y rung) int {
		return cmp.Or(cmp.Compare(question.VerdictSeverity[x.Verdict]/3, question.VerdictSeverity[y.Verdict]/3), cmp.Compare(x.price, y.price))
	})
	var out []api.Suggestion
	for _, x := range all[:min(len(all), change.MaxSuggestions)] {
		out = append(out, x.Suggestion)
	}
	return out
}

// InPhase is the most that phases of a name hold; without a name, what is needed at the peak.
func InPhase(d *api.Device, name string) (most unit.Bytes) {
	if name == "" {
		return d.Needed
	}
	for i := range d.Phases {
		if strings.HasPrefix(d.Phases[i].Name, name) {
			most = max(most, d.Phases[i].Bytes)
		}
	}
	return most
}

// rungs are all single changes.
func (t *Training) rungs() (out []change.Setting) {
	now := &t.Question.Request
	add := func(words string, price float64, set func(*api.Request)) {
		out = append(out, change.Setting{Words: words, Set: set, Price: price})
	}
	yes := true
	if now.FusedLoss == nil || !*now.FusedLoss {
		add("fused loss", 0, func(r *api.Request) { r.FusedLoss = &yes })
	}
	if now.Attention == "eager" {
		add("attention eager → flash", 0, func(r *api.Request) { r.Attention = "flash" })
	}
	if n := now.MicroBatch; n > 1 {
		add(fmt.Sprintf("micro-batch %d → 1, accumulation × %d", n, n), change.PriceNearlyFree, func(r *api.Request) { r.MicroBatch, r.Accumulation, r.GlobalBatch = 1, now.Accumulation*n, 0 })
	}
	if now.Recompute != "full" {
		add("recompute "+now.Recompute+" → full", change.PriceNearlyFree, func(r *api.Request) { r.Recompute = "full" })
	}
	if now.Optimizer == "adamw" || now.Optimizer == "adamw-fused" {
		add("optimizer "+now.Optimizer+" → adamw-8bit", otherStates, func(r *api.Request) { r.Optimizer = "adamw-8bit" })
		add("optimizer "+now.Optimizer+" → paged-adamw-8bit", otherStates, func(r *api.Request) { r.Optimizer = "paged-adamw-8bit" })
	}
	for _, to := range moreSharded[now.Sharding] {
		add("sharding "+now.Sharding+" → "+to, change.PriceNearlyFree, func(r *api.Request) { r.Sharding = to })
	}
	for _, o := range []plan.Offload{{Optimizer: "host"}, {Optimizer: "host", Params: "host"}, {Activations: "host"}} {
		add(OffloadWords(o), change.PriceNearlyFree, func(r *api.Request) { r.Offload = &o })
	}
	for _, to := range lighterMethods[now.Method] {
		add("method "+now.Method+" → "+to, adapters, func(r *api.Request) {
			r.Method = to
			if to == "qlora" {
				r.Weights = ""
			}
		})
	}
	if n := int64(now.SequenceLength) / 2; n >= 256 {
		add(fmt.Sprintf("sequences of %s → %s", unit.Length(int64(now.SequenceLength)), unit.Length(n)), shorterSample, func(r *api.Request) { r.SequenceLength = plan.Int(n) })
	}
	return append(out, t.moreDevices()...)
}

// moreSharded are ways to share more of what data-parallel ranks hold alike.
var moreSharded = map[string][]string{
	"none": {"zero3", "fsdp"}, "ddp": {"zero1", "zero2", "zero3", "fsdp"}, "zero1": {"zero2", "zero3"}, "zero2": {"zero3"}, "hsdp": {"fsdp"},
}

// lighterMethods train less.
var lighterMethods = map[string][]string{"full": {"lora", "qlora"}, "lora": {"qlora"}, "dora": {"qlora"}}

// OffloadWords say what is offloaded.
func OffloadWords(o plan.Offload) string {
	switch {
	case o.Params != "":
		return "parameters and optimizer on the host"
	case o.Optimizer != "":
		return "optimizer on the host"
	}
	return "inputs of blocks on the host"
}

// moreDevices devices of the same kind: twice as many replicas.
func (t *Training) moreDevices() []change.Setting {
	m := t.Job.Machine
	if m == nil || len(m.Groups) != 1 || m.Node != "" {
		return nil
	}
	n := 2 * m.Groups[0].Count
	to := change.HardwareOfKind(t.Question, n)
	return []change.Setting{{Words: fmt.Sprintf("%d × %s", n, m.Groups[0].Device.Name), Set: func(r *api.Request) { r.Hardware, r.Devices, r.DP = to, 0, 0 }, Price: change.PriceOfMoreDevices}}
}
