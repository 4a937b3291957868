package memwall

import (
	"encoding/json"
	"fmt"
	"iter"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/unit"
)

// change is a patch to try, in words.
type change struct {
	words string
	patch map[string]any
}

const maxSuggestions = 7

// suggest tries changes from the cheapest in quality to the dearest, each by asking again, and keeps those
// that help a plan that does not fit beyond doubt.
func (q *question) suggest(a *Answer) []Suggestion {
	if a.Verdict != Tight && a.Verdict != DoesNotFit {
		return nil
	}
	var out []Suggestion
	again := q.again()
	for c := range q.changes(a) {
		if s, ok := q.try(again, a, c); ok {
			out = append(out, s)
		}
		if len(out) == maxSuggestions {
			break
		}
	}
	return out
}

func (q *question) try(again *Asker, a *Answer, c change) (Suggestion, bool) {
	r, err := Patch(&q.original, c.patch)
	if err != nil {
		return Suggestion{}, false
	}
	b, err := again.Size(r)
	if err != nil || len(b.Devices) == 0 {
		return Suggestion{}, false
	}
	s := Suggestion{Change: c.words, Patch: c.patch, Saves: a.Devices[0].Needed - b.Devices[0].Needed, Verdict: b.Verdict}
	s.Speed = faster(a.Speed, b.Speed)
	better := severity[b.Verdict] < severity[a.Verdict] || b.Devices[0].Headroom > a.Devices[0].Headroom
	return s, better
}

// faster is how many times as fast a user is served; nil when either is unknown.
func faster(a, b *Speed) *float64 {
	if a == nil || b == nil || a.Decode == nil || b.Decode == nil {
		return nil
	}
	x := *b.Decode / *a.Decode
	return &x
}

// again answers further questions about the question's model without resolving it anew, which may mean
// reading files.
func (q *question) again() *Asker {
	a := q.asker.remembering()
	a.memo.models[q.request.Model] = q.resolved
	return a
}

// changes that suit the engine, cheapest first. Those that nobody asks for are not made up.
func (q *question) changes(a *Answer) iter.Seq[change] {
	groups := []func() []change{q.idleChange, q.engineChanges, q.kvChange, func() []change { return q.loadChanges(a) }, func() []change { return q.offloadChanges(a) }}
	for _, name := range q.smaller() {
		groups = append(groups, func() []change { return q.weightChange(name) })
	}
	groups = append(groups, q.hostedChange, q.deviceChange)
	return func(yield func(change) bool) {
		for _, group := range groups {
			for _, c := range group() {
				if !yield(c) {
					return
				}
			}
		}
	}
}

// idleChange puts devices to work that the plan leaves idle.
func (q *question) idleChange() []change {
	p := &q.request.Plan
	idle := q.job.Devices() / max(1, p.Ranks())
	if q.job.Machine == nil || engine.ReadsGGUF(q.engine) || idle < 2 {
		return nil
	}
	to := idle * max(1, p.TP)
	return []change{{fmt.Sprintf("tensor parallel %d → %d", max(1, p.TP), to), map[string]any{"tp": to}}}
}

func (q *question) engineChanges() (out []change) {
	p := &q.request.Plan
	if p.Attention == "eager" {
		out = append(out, change{"attention eager → sdpa", map[string]any{"attention": "sdpa"}})
	}
	if n := int64(p.MaxSeqs); q.engine.Name() == "vllm" && n > 64 {
		to := int64(256)
		if n <= to {
			to = 64
		}
		out = append(out, change{fmt.Sprintf("max_num_seqs %s → %d", unit.Count(n), to), map[string]any{"max_num_seqs": to}})
	}
	if u := p.GPUMemoryUtilization; u != nil && *u < 0.95 {
		out = append(out, change{fmt.Sprintf("gpu_memory_utilization %g → 0.95", *u), map[string]any{"gpu_memory_utilization": 0.95}})
	}
	if FieldByName("enforce_eager").OwnedBy(q.engine.Name()) && (p.EnforceEager == nil || !*p.EnforceEager) {
		out = append(out, change{"no CUDA graphs", map[string]any{"enforce_eager": true}})
	}
	return out
}

func (q *question) kvChange() []change {
	to := "fp8"
	if engine.ReadsGGUF(q.engine) {
		to = "q8_0"
	}
	from := dtype.FindFormat(q.request.KV)
	if f := dtype.FindFormat(to); from == nil || f.Bits() >= from.Bits() {
		return nil
	}
	return []change{{fmt.Sprintf("KV cache %s → %s", q.request.KV, to), map[string]any{"kv": to}}}
}

func (q *question) loadChanges(a *Answer) (out []change) {
	p := &q.request.Plan
	if n := a.KV.MaxSequences; n != nil && *n > 0 && *n < int64(p.Sequences) {
		out = append(out, change{fmt.Sprintf("%d sequences instead of %d", *n, p.Sequences), map[string]any{"sequences": *n}})
	}
	if n := a.KV.MaxContext; n != nil && p.ContextTotal == 0 {
		if c := *n / 1024 * 1024; c >= 1024 && c < int64(p.Context) {
			out = append(out, change{fmt.Sprintf("context %s → %s", unit.Length(int64(p.Context)), unit.Length(c)), map[string]any{"context": c, "prompt_tokens": nil, "output_tokens": nil}})
		}
	}
	return out
}

// smaller recipes to offer, by what reads them.
var (
	smallerHub  = []string{"fp8", "awq"}
	smallerGGUF = []string{"q8_0", "q6_k", "q5_k_m", "q4_k_m", "q3_k_m", "iq2_m"}
)

// smaller are the recipes to offer; none when only a file tells what the model is.
func (q *question) smaller() []string {
	switch {
	case q.resolved.Spec == nil:
		return nil
	case engine.ReadsGGUF(q.engine):
		return smallerGGUF
	}
	return smallerHub
}

func (q *question) weightChange(name string) []change {
	if now := q.job.Weights.Bytes(); q.job.Model.Store(dtype.FindRecipe(name)).Bytes() >= now*97/100 {
		return nil
	}
	return []change{{fmt.Sprintf("weights %s → %s", q.request.Weights, name), map[string]any{"weights": name}}}
}

func (q *question) deviceChange() []change {
	m := q.job.Machine
	if m == nil || len(m.Groups) != 1 || m.Node != "" {
		return nil
	}
	n := 2 * m.Groups[0].Count
	to := fmt.Sprintf("%dx%s", n, m.Groups[0].Device.ID)
	return []change{{fmt.Sprintf("%d × %s", n, m.Groups[0].Device.Name), map[string]any{"hardware": to, "devices": nil, "tp": nil, "pp": nil, "dp": nil}}}
}

// Patch applies a JSON merge patch (RFC 7396) to a request.
func Patch(r *Request, patch map[string]any) (*Request, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, err
	}
	merge(m, patch)
	if data, err = json.Marshal(m); err != nil {
		return nil, err
	}
	return Decode(data)
}

func merge(into map[string]any, patch map[string]any) {
	for k, v := range patch {
		sub, isMap := v.(map[string]any)
		have, had := into[k].(map[string]any)
		switch {
		case v == nil:
			delete(into, k)
		case isMap && had:
			merge(have, sub)
		default:
			into[k] = v
		}
	}
}
