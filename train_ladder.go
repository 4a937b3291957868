package memwall

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// What a training plan may change to fit, from what costs nothing to what trains another thing. Prices are points as in
// plan_price.go; a step that takes twice as long costs as many as an answer that does.

// Prices of changes that train another thing, or need more hardware.
const (
	otherStates   = 1  // an optimizer that keeps less
	adapters      = 8  // some matrices instead of all weights
	shorterSample = 12 // half of each sample
)

// suggest tries single changes and keeps those that help a plan that does not fit beyond doubt, those that mend it first,
// the cheapest first.
func (t *training) suggest(a *Answer) []Suggestion {
	if a.Verdict != Tight && a.Verdict != DoesNotFit {
		return nil
	}
	return t.changes(a)
}

// changes are the single changes that help, whatever the verdict.
func (t *training) changes(a *Answer) []Suggestion {
	again := t.q.again()
	type rung struct {
		Suggestion
		price float64
	}
	var all []rung
	for _, s := range t.rungs() {
		r := t.q.original
		r.Explain = false
		s.set(&r)
		b, err := again.trained(&r)
		if err != nil {
			continue
		}
		c := b.answer()
		saves := a.Devices[0].Needed - c.Devices[0].Needed
		if saves < max(1, -a.Devices[0].Headroom/20) && severity[c.Verdict] >= severity[a.Verdict] {
			continue
		}
		x := rung{Suggestion{Change: s.words, Patch: patchOf(&t.q.original, &r), Saves: saves, Verdict: c.Verdict, phases: c.Devices[0].Phases}, s.price}
		if a.Step != nil && c.Step != nil {
			x.Speed = rounded(c.Step.PerDevice / a.Step.PerDevice)
			x.price += max(0, pointsOfTwice[""]*(1/(*x.Speed)-1))
		}
		all = append(all, x)
	}
	slices.SortStableFunc(all, func(x, y rung) int {
		return cmp.Or(cmp.Compare(severity[x.Verdict]/3, severity[y.Verdict]/3), cmp.Compare(x.price, y.price))
	})
	var out []Suggestion
	for _, x := range all[:min(len(all), maxSuggestions)] {
		out = append(out, x.Suggestion)
	}
	return out
}

// rungs are all single changes.
func (t *training) rungs() (out []setting) {
	now := &t.q.request
	add := func(words string, price float64, set func(*Request)) {
		out = append(out, setting{words: words, set: set, price: price})
	}
	yes := true
	if now.FusedLoss == nil || !*now.FusedLoss {
		add("fused loss", 0, func(r *Request) { r.FusedLoss = &yes })
	}
	if now.Attention == "eager" {
		add("attention eager → flash", 0, func(r *Request) { r.Attention = "flash" })
	}
	if n := now.MicroBatch; n > 1 {
		add(fmt.Sprintf("micro-batch %d → 1, accumulation × %d", n, n), small, func(r *Request) { r.MicroBatch, r.Accumulation, r.GlobalBatch = 1, now.Accumulation*n, 0 })
	}
	if now.Recompute != "full" {
		add("recompute "+now.Recompute+" → full", small, func(r *Request) { r.Recompute = "full" })
	}
	if now.Optimizer == "adamw" || now.Optimizer == "adamw-fused" {
		add("optimizer "+now.Optimizer+" → adamw-8bit", otherStates, func(r *Request) { r.Optimizer = "adamw-8bit" })
		add("optimizer "+now.Optimizer+" → paged-adamw-8bit", otherStates, func(r *Request) { r.Optimizer = "paged-adamw-8bit" })
	}
	for _, to := range moreSharded[now.Sharding] {
		add("sharding "+now.Sharding+" → "+to, small, func(r *Request) { r.Sharding = to })
	}
	for _, o := range []plan.Offload{{Optimizer: "host"}, {Optimizer: "host", Params: "host"}, {Activations: "host"}} {
		add(offloadWords(o), small, func(r *Request) { r.Offload = &o })
	}
	for _, to := range lighterMethods[now.Method] {
		add("method "+now.Method+" → "+to, adapters, func(r *Request) {
			r.Method = to
			if to == "qlora" {
				r.Weights = ""
			}
		})
	}
	if n := int64(now.SequenceLength) / 2; n >= 256 {
		add(fmt.Sprintf("sequences of %s → %s", unit.Length(int64(now.SequenceLength)), unit.Length(n)), shorterSample, func(r *Request) { r.SequenceLength = plan.Int(n) })
	}
	return append(out, t.more()...)
}

// moreSharded are ways to share more of what data-parallel ranks hold alike.
var moreSharded = map[string][]string{
	"none": {"zero3", "fsdp"}, "ddp": {"zero1", "zero2", "zero3", "fsdp"}, "zero1": {"zero2", "zero3"}, "zero2": {"zero3"}, "hsdp": {"fsdp"},
}

// lighterMethods train less.
var lighterMethods = map[string][]string{"full": {"lora", "qlora"}, "lora": {"qlora"}, "dora": {"qlora"}}

func offloadWords(o plan.Offload) string {
	switch {
	case o.Params != "":
		return "parameters and optimizer on the host"
	case o.Optimizer != "":
		return "optimizer on the host"
	}
	return "inputs of blocks on the host"
}

// more devices of the same kind: twice as many replicas.
func (t *training) more() []setting {
	m := t.job.Machine
	if m == nil || len(m.Groups) != 1 || m.Node != "" {
		return nil
	}
	n := 2 * m.Groups[0].Count
	to := t.q.ofKind(n)
	return []setting{{words: fmt.Sprintf("%d × %s", n, m.Groups[0].Device.Name), set: func(r *Request) { r.Hardware, r.Devices, r.DP = to, 0, 0 }, price: moreDevices}}
}
