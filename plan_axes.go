package memwall

import (
	"fmt"
	"slices"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// What a plan may change to fit, engine by engine. An axis is one field, or fields that go together; its settings
// begin with what was asked for, and each needs no more memory than the one before.

// setting of an axis: in words, alone and beside others, what it sets, and what it costs beside time, in points of
// plan_price.go.
type setting struct {
	words string
	short string
	set   func(*Request)
	price float64
}

// axis of a space of plans.
type axis struct {
	field    string
	settings []setting
}

// pinned reports whether somebody gave the field one value.
func (p *planner) pinned(field string) bool {
	if p.among[field] != nil {
		return false
	}
	f := FieldByName(field)
	return f != nil && !f.Value(&p.asked).IsZero()
}

// Fields of the axes whose prices are losses of quality.
const weightsField, cacheField = "weights", "kv"

// asGiven is an axis that changes nothing.
func asGiven(field string) axis { return axis{field, []setting{{}}} }

// axes of an engine. What was pinned has one setting; with loose, all have all of theirs. A placement that spills fits
// with any size of micro-batch, and the usual one is the fastest.
func (p *planner) axes(q *question, loose, spills bool) (out []axis) {
	for _, make := range []func(*question) axis{p.weightsAxis, p.cacheAxis, ubatchAxis, utilizationAxis, sequencesAxis, batchedAxis, graphsAxis, attentionAxis} {
		a := make(q)
		if !loose && p.pinned(a.field) {
			a.settings = a.settings[:1]
		}
		if len(a.settings) > 1 && !(spills && a.field == "ubatch") {
			out = append(out, a)
		}
	}
	return out
}

// formats of weights to try, by what reads them; those that save nothing against the ones before are passed over.
var (
	hubRecipes  = []string{"bf16", "fp8", "nvfp4", "awq", "gptq"}
	ggufRecipes = []string{"bf16", "q8_0", "q6_k", "q5_k_m", "q4_k_m", "iq4_xs", "q3_k_m", "iq3_xxs", "q2_k", "iq2_xs"}
)

// recipes to try: those that were listed, else those that the engine of a question reads.
func (p *planner) recipes(q *question) []string {
	if list := p.among["weights"]; list != nil {
		return list
	}
	if engine.ReadsGGUF(q.engine) {
		return ggufRecipes
	}
	return hubRecipes
}

func (p *planner) weightsAxis(q *question) axis {
	a := asGiven(weightsField)
	if q.resolved.Spec == nil {
		return a
	}
	least := q.job.Weights.Bytes()
	for _, name := range p.recipes(q) {
		r := dtype.FindRecipe(name)
		if r == nil || !q.runs(r) {
			continue
		}
		n := p.asker.stored(q.job.Model, r)
		if n >= least*97/100 {
			continue
		}
		least = n
		a.settings = append(a.settings, setting{fmt.Sprintf("weights %s → %s", q.request.Weights, name), name, func(r *Request) { r.Weights = name }, p.loss(q.request.Weights, name)})
	}
	for i := 1; i < len(a.settings); i++ {
		a.settings[i].price = max(a.settings[i].price, a.settings[i-1].price)
	}
	return a
}

// runs reports whether the engine runs a format on the devices, and in formats of 4-bit floats whether these compute
// with them: others would only unpack what awq stores as small.
func (q *question) runs(r *dtype.Recipe) bool {
	p := q.request.Plan
	p.Weights = r.Name
	j := engine.Job{Machine: q.job.Machine, Version: q.job.Version, Plan: &p}
	if engine.CheckCapability(&j, q.engine.Name()) != nil {
		return false
	}
	d := q.job.Device(0)
	return r.Name != "nvfp4" || d != nil && d.Peaks.FP4.Known
}

// cacheFormats to try: those that were listed, else by engine.
func (p *planner) cacheFormats(q *question) []string {
	if list := p.among["kv"]; list != nil {
		return list
	}
	if engine.ReadsGGUF(q.engine) {
		return []string{"q8_0", "q4_0"}
	}
	if q.engine.Name() == transformersEngine || q.engine.Name() == "generic" {
		return nil
	}
	return []string{"fp8"}
}

func (p *planner) cacheAxis(q *question) axis {
	a := asGiven(cacheField)
	from := dtype.FindFormat(q.request.KV)
	for _, name := range p.cacheFormats(q) {
		if to := dtype.FindFormat(name); from == nil || to.Bits() >= from.Bits() {
			continue
		}
		a.settings = append(a.settings, setting{fmt.Sprintf("KV cache %s → %s", q.request.KV, name), "KV " + name, func(r *Request) { r.KV, r.KVV = name, "" }, p.cacheLoss(q.request.KV, name)})
	}
	return a
}

// lowered gives an axis the steps below what a number is now.
func lowered(field, what, short string, now int64, steps []int64, set func(*Request, plan.Int)) axis {
	a := asGiven(field)
	for _, n := range steps {
		if n < now {
			a.settings = append(a.settings, setting{fmt.Sprintf("%s %s → %s", what, unit.Count(now), unit.Count(n)), short + " " + unit.Count(n), func(r *Request) { set(r, plan.Int(n)) }, small * float64(len(a.settings))})
		}
	}
	return a
}

func ubatchAxis(q *question) axis {
	if !engine.ReadsGGUF(q.engine) {
		return asGiven("ubatch")
	}
	return lowered("ubatch", "ubatch", "ub", int64(q.request.UBatch), []int64{256, 128}, func(r *Request, n plan.Int) { r.UBatch = n })
}

func sequencesAxis(q *question) axis {
	if engine.ReadsGGUF(q.engine) {
		return asGiven("max_num_seqs")
	}
	steps := slices.DeleteFunc([]int64{256, 64, 16}, func(n int64) bool { return n < int64(q.request.Sequences) })
	return lowered("max_num_seqs", "max_num_seqs", "seqs", int64(q.request.MaxSeqs), steps, func(r *Request, n plan.Int) { r.MaxSeqs = n })
}

func batchedAxis(q *question) axis {
	if engine.ReadsGGUF(q.engine) {
		return asGiven("max_num_batched_tokens")
	}
	steps := []int64{2048, 1024}
	if f := q.request.ChunkedPrefill; f != nil && !*f {
		steps = nil // a step holds a whole prompt
	}
	return lowered("max_num_batched_tokens", "step tokens", "step", int64(q.request.MaxBatchedTokens), steps, func(r *Request, n plan.Int) { r.MaxBatchedTokens = n })
}

func utilizationAxis(q *question) axis {
	a := asGiven("gpu_memory_utilization")
	if u := q.request.GPUMemoryUtilization; u != nil && *u < mostUtilization {
		a.settings = append(a.settings, setting{fmt.Sprintf("utilization %g → %g", *u, mostUtilization), fmt.Sprintf("util %g", mostUtilization), func(r *Request) { most := mostUtilization; r.GPUMemoryUtilization = &most }, small})
	}
	return a
}

// mostUtilization leaves other programs of the device a little.
const mostUtilization = 0.95

func graphsAxis(q *question) axis {
	a := asGiven("enforce_eager")
	if FieldByName("enforce_eager").OwnedBy(q.engine.Name()) && !isTrue(q.request.EnforceEager) {
		a.settings = append(a.settings, setting{"no CUDA graphs", "eager", func(r *Request) { yes := true; r.EnforceEager = &yes }, small})
	}
	return a
}

func attentionAxis(q *question) axis {
	a := asGiven("attention")
	if q.request.Attention == "eager" {
		a.settings = append(a.settings, setting{"attention eager → sdpa", "sdpa", func(r *Request) { r.Attention = "sdpa" }, 0})
	}
	return a
}
