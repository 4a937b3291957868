package training

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/planner/change"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/stable"
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
	// adapters of weights in four bits, by another program
	otherFramework = adapters + oneMoreChange
)

// suggest tries single changes and keeps those that help a plan that does not fit beyond doubt, those that mend it first,
// the cheapest first.
func (t *Training) suggest(a *api.Answer) []api.Suggestion {
	if a.Verdict != api.Tight && a.Verdict != api.DoesNotFit {
		return nil
	}
	return t.Changes(a, "")
}

// Changes are the single changes that help, whatever the verdict, and where none mends the plan as cheaply, several at once that do.
// With the name of a phase of the step, what a change saves is counted there and not at the peak.
func (t *Training) Changes(a *api.Answer, phase string) (out []api.Suggestion) {
	x := trial{t, change.SameModelEnv(t.Question), a, phase}
	singles := x.singles()
	all := slices.DeleteFunc(slices.Clone(singles), func(r rung) bool { return !x.helps(&r) })
	if worse := question.VerdictSeverity[a.Verdict]; worse > 0 {
		if r, ok := x.together(singles, api.Fits, cheapest(all, api.Fits)); ok {
			all = append(all, r)
		}
		if least := cheapest(all, api.Tight); worse > question.VerdictSeverity[api.Tight] && least >= change.PriceOfMoreDevices {
			if r, ok := x.together(singles, api.Tight, least); ok {
				all = append(all, r)
			}
		}
	}
	stable.Sort(all, func(x, y rung) int {
		return cmp.Or(cmp.Compare(question.VerdictSeverity[x.Verdict]/3, question.VerdictSeverity[y.Verdict]/3),
			cmp.Compare(x.price, y.price))
	})
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
	if now.TP > 1 && now.SequenceParallel != nil && !*now.SequenceParallel {
		add("sequence parallel", 0, func(r *api.Request) { r.SequenceParallel = &yes })
	}
	if now.Attention == "eager" {
		add("attention eager → flash", 0, func(r *api.Request) { r.Attention = "flash" })
	}
	if n := now.MicroBatch; n > 1 {
		add(fmt.Sprintf("micro-batch %d → 1, accumulation × %d", n, n), change.PriceNearlyFree,
			func(r *api.Request) { r.MicroBatch, r.Accumulation, r.GlobalBatch = 1, now.Accumulation*n, 0 })
	}
	if now.Recompute != "full" {
		add("recompute "+now.Recompute+" → full", change.PriceNearlyFree, func(r *api.Request) { r.Recompute = "full" })
	}
	if now.Optimizer == "adamw" || now.Optimizer == "adamw-fused" {
		add("optimizer "+now.Optimizer+" → adamw-8bit", otherStates, func(r *api.Request) { r.Optimizer = "adamw-8bit" })
		add("optimizer "+now.Optimizer+" → paged-adamw-8bit", otherStates, func(r *api.Request) { r.Optimizer = "paged-adamw-8bit" })
	}
	for _, to := range t.moreSharded() {
		add("sharding "+now.Sharding+" → "+to, change.PriceNearlyFree, func(r *api.Request) { r.Sharding = to })
	}
	for _, o := range []plan.Offload{{Optimizer: "host"}, {Optimizer: "host", Params: "host"}, {Activations: "host"}} {
		add(OffloadWords(o), change.PriceNearlyFree, func(r *api.Request) { r.Offload = offloaded(r.Offload, o) })
	}
	for _, to := range LighterMethods[now.Method] {
		add("method "+now.Method+" → "+to, adapters, func(r *api.Request) {
			r.Method = to
			if to == "qlora" {
				r.Weights = ""
			}
		})
	}
	if t.expertsInSixteenBits() {
		add("framework "+now.Framework+" → unsloth, method qlora", otherFramework, func(r *api.Request) {
			r.Framework, r.Method, r.Weights = "unsloth", "qlora", ""
		})
	}
	if n := int64(now.SequenceLength) / 2; n >= 256 {
		add(fmt.Sprintf("sequences of %s → %s", unit.Length(int64(now.SequenceLength)), unit.Length(n)), shorterSample,
			func(r *api.Request) { r.SequenceLength = plan.Int(n) })
	}
	return append(out, t.moreDevices()...)
}

// expertsInSixteenBits: adapters of a mixture of experts, on one device, in a framework that stores only linear layers in four bits. Unsloth
// has the experts as such (unsloth.ai/docs, gpt-oss: how to run and fine-tune).
func (t *Training) expertsInSixteenBits() bool {
	m, now := t.Job.Machine, &t.Question.Request
	mixed := t.Job.Model.ActiveParams() < t.Job.Model.Params()
	adapts := now.Method == "qlora" || LighterMethods[now.Method] != nil
	return mixed && adapts && m != nil && m.Devices() == 1 && now.Framework != "unsloth"
}

// moreSharded are ways to share more of what data-parallel ranks hold alike; none of one rank.
func (t *Training) moreSharded() []string {
	if m := t.Job.Machine; m == nil || m.Devices() < 2 {
		return nil
	}
	return sharesMore[t.Question.Request.Sharding]
}

var sharesMore = map[string][]string{
	"none": {"zero3", "fsdp"}, "ddp": {"zero1", "zero2", "zero3", "fsdp"}, "zero1": {"zero2", "zero3"}, "zero2": {"zero3"},
	"hsdp": {"fsdp"},
}

// LighterMethods are those that train less than a method, those that keep most of its states first.
var LighterMethods = map[string][]string{"full": {"lora", "qlora"}, "lora": {"qlora"}, "dora": {"qlora"}}

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

// offloaded is what is on the host already, and more.
func offloaded(now *plan.Offload, more plan.Offload) *plan.Offload {
	if now == nil {
		return &more
	}
	return &plan.Offload{Optimizer: cmp.Or(more.Optimizer, now.Optimizer), Params: cmp.Or(more.Params, now.Params),
		Activations: cmp.Or(more.Activations, now.Activations)}
}

// mostTimes the devices are as many as anybody adds for one training.
const mostTimes = 8

// moreDevices devices of the same kind: two, four and eight times as many replicas.
func (t *Training) moreDevices() (out []change.Setting) {
	m := t.Job.Machine
	if m == nil || len(m.Groups) != 1 || m.Node != "" || question.UnifiedPool(m) > 0 {
		return nil
	}
	d, now := &m.Groups[0].Device, m.Groups[0].Count
	for n := 2 * now; n <= mostTimes*now && !(d.Consumer() && n > 4); n *= 2 {
		to := change.HardwareOfKind(t.Question, n)
		out = append(out, change.Setting{Words: fmt.Sprintf("%d × %s", n, d.Name),
			Set:   func(r *api.Request) { r.Hardware, r.Devices, r.DP = to, 0, 0 },
			Price: change.PriceOfMoreDevices * math.Log2(float64(n)/float64(now))})
	}
	return out
}
