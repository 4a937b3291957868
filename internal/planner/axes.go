package planner

import (
	"fmt"
	"slices"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/internal/planner/change"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/quality"
	"github.com/memwall/memwall/unit"
)

// What a plan may change in order to fit, by engine. An axis is a field, or fields that go together; its settings start
// with what was requested, and each needs no more memory than the one before.

// Axis is a dimension of a search space of plans.
type Axis struct {
	Field    string
	Settings []change.Setting
}

// pinned reports whether the field was given a single value.
func (p *Planner) pinned(field string) bool {
	if p.Among[field] != nil {
		return false
	}
	f := api.FieldByName(field)
	return f != nil && !f.Value(&p.Asked).IsZero()
}

// Fields of the axes that cost quality.
const weightsField, cacheField = "weights", "kv"

// asGiven returns an axis without changes.
func asGiven(field string) Axis { return Axis{field, []change.Setting{{}}} }

// axes returns the axes of an engine. Pinned fields have one setting; with loose, all have all of theirs. A placement
// that spills to the host fits with any micro-batch size, and the usual one is the fastest.
func (p *Planner) axes(q *question.Question, loose, spills bool) (out []Axis) {
	for _, make := range []func(*question.Question) Axis{p.WeightsAxis, p.CacheAxis, ubatchAxis, utilizationAxis, sequencesAxis,
		batchedAxis, graphsAxis, attentionAxis} {
		a := make(q)
		if !loose && p.pinned(a.Field) {
			a.Settings = a.Settings[:1]
		}
		if len(a.Settings) > 1 && !(spills && a.Field == "ubatch") {
			out = append(out, a)
		}
	}
	return out
}

// listed returns the values given for a field to choose from, else the usual ones.
func (p *Planner) listed(field string, usual []string) []string {
	if list := p.Among[field]; list != nil {
		return list
	}
	return usual
}

// Weight formats to try, by what reads them; those that save nothing over the previous ones are skipped.
var (
	hubRecipes = []string{"bf16", "fp8", "nvfp4", "awq", "gptq"}
	// conversions of a 16-bit checkpoint on loading: bitsandbytes, and diffusers' casting of layers
	loadRecipes    = []string{"bf16", "bnb-int8", "nf4"}
	pictureRecipes = []string{"bf16", "fp8", "nf4"}
	// fewer bits are rejected: advice.fewestBits
	ggufRecipes = []string{"bf16", "q8_0", "q6_k", "q5_k_m", "q4_k_m", "iq4_xs", "q3_k_m", "iq3_xxs"}
)

// recipes returns the recipes that the question's engine reads.
func recipes(q *question.Question) []string {
	switch {
	case engine.ReadsGGUF(q.Engine):
		return ggufRecipes
	case makesPictures(q):
		return pictureRecipes
	case q.Engine.Name() == question.TransformersEngine:
		return loadRecipes
	}
	return hubRecipes
}

// WeightsAxis returns the axis of weight formats.
func (p *Planner) WeightsAxis(q *question.Question) Axis {
	a := asGiven(weightsField)
	if q.Resolved.Spec == nil {
		return a
	}
	least := q.Job.Weights.Bytes()
	for _, name := range p.listed(weightsField, recipes(q)) {
		r := dtype.FindRecipe(name)
		if r == nil || !runsFormat(q, r) {
			continue
		}
		n := p.env.StoredBytes(q.Job.Model, r)
		if n >= least*97/100 || savesNoBits(q, r) {
			continue
		}
		least = n
		a.Settings = append(a.Settings, change.Setting{Words: fmt.Sprintf("weights %s → %s", q.Request.Weights, name), Short: name,
			Set: func(r *api.Request) { r.Weights = name }, Price: lossOfWeights(p.Order, q.Request.Weights, name)})
	}
	for i := 1; i < len(a.Settings); i++ {
		a.Settings[i].Price = max(a.Settings[i].Price, a.Settings[i-1].Price)
	}
	return a
}

// savesNoBits reports whether the vendor's own format already has as few bits.
func savesNoBits(q *question.Question, r *dtype.Recipe) bool {
	now := dtype.FindRecipe(q.Request.Weights)
	return now != nil && !engine.ReadsGGUF(q.Engine) && r.BulkBits() > now.BulkBits()*9/10
}

// runsFormat reports whether the engine runs a format on the devices and, for 4-bit floats, whether these have native
// arithmetic: others would merely unpack what awq stores in the same space.
func runsFormat(q *question.Question, r *dtype.Recipe) bool {
	p := q.Request.Plan
	p.Weights = r.Name
	j := engine.Job{Machine: q.Job.Machine, Model: q.Job.Model, Version: q.Job.Version, Plan: &p}
	if engine.CheckCapability(&j, q.Engine.Name()) != nil {
		return false
	}
	d := q.Job.Device(0)
	return r.Name != "nvfp4" || d != nil && d.Peaks.FP4.Known
}

// runsCache reports whether the engine supports a KV cache format on the devices.
func runsCache(q *question.Question, name string) bool {
	p := q.Request.Plan
	p.KV = name
	j := engine.Job{Machine: q.Job.Machine, Model: q.Job.Model, Version: q.Job.Version, Plan: &p}
	return engine.CheckCapability(&j, q.Engine.Name()) == nil
}

// cacheFormats returns the narrower KV cache formats of an engine.
func cacheFormats(q *question.Question) []string {
	if engine.ReadsGGUF(q.Engine) {
		return []string{"q8_0", "q4_0"}
	}
	if q.Engine.Name() == question.TransformersEngine || q.Engine.Name() == "generic" {
		return nil
	}
	return []string{"fp8"}
}

// CacheAxis returns the axis of KV cache formats.
func (p *Planner) CacheAxis(q *question.Question) Axis {
	a := asGiven(cacheField)
	from := dtype.FindFormat(q.Request.KV)
	for _, name := range p.listed(cacheField, cacheFormats(q)) {
		if to := dtype.FindFormat(name); from == nil || to.Bits() >= from.Bits() || !runsCache(q, name) {
			continue
		}
		a.Settings = append(a.Settings, change.Setting{Words: fmt.Sprintf("KV cache %s → %s", q.Request.KV, name), Short: "KV " + name,
			Set: func(r *api.Request) { r.KV, r.KVV = name, "" }, Price: lossOfCache(p.Order, q.Request.KV, name)})
	}
	return a
}

// lowered adds the steps below the current value of a number to an axis.
func lowered(field, what, short string, now int64, steps []int64, set func(*api.Request, plan.Int)) Axis {
	a := asGiven(field)
	for _, n := range steps {
		if n < now {
			a.Settings = append(a.Settings, change.Setting{Words: fmt.Sprintf("%s %s → %s", what, unit.Count(now), unit.Count(n)),
				Short: short + " " + unit.Count(n), Set: func(r *api.Request) { set(r, plan.Int(n)) },
				Price: change.PriceNearlyFree * float64(len(a.Settings))})
		}
	}
	return a
}

func ubatchAxis(q *question.Question) Axis {
	if !engine.ReadsGGUF(q.Engine) {
		return asGiven("ubatch")
	}
	return lowered("ubatch", "ubatch", "ub", int64(q.Request.UBatch), []int64{256, 128}, func(r *api.Request, n plan.Int) { r.UBatch = n })
}

func sequencesAxis(q *question.Question) Axis {
	if engine.ReadsGGUF(q.Engine) {
		return asGiven("max_num_seqs")
	}
	steps := slices.DeleteFunc([]int64{256, 64, 16}, func(n int64) bool { return n < int64(q.Request.Sequences) })
	return lowered("max_num_seqs", "max_num_seqs", "seqs", int64(q.Request.MaxSeqs), steps,
		func(r *api.Request, n plan.Int) { r.MaxSeqs = n })
}

func batchedAxis(q *question.Question) Axis {
	if engine.ReadsGGUF(q.Engine) {
		return asGiven("max_num_batched_tokens")
	}
	steps := []int64{2048, 1024}
	if f := q.Request.ChunkedPrefill; f != nil && !*f {
		steps = nil // a step holds a whole prompt
	}
	return lowered("max_num_batched_tokens", "step tokens", "step", int64(q.Request.MaxBatchedTokens), steps,
		func(r *api.Request, n plan.Int) { r.MaxBatchedTokens = n })
}

func utilizationAxis(q *question.Question) Axis {
	a := asGiven("gpu_memory_utilization")
	if u := q.Request.GPUMemoryUtilization; u != nil && *u < mostUtilization {
		a.Settings = append(a.Settings, change.Setting{Words: fmt.Sprintf("utilization %g → %g", *u, mostUtilization),
			Short: fmt.Sprintf("util %g", mostUtilization),
			Set:   func(r *api.Request) { most := mostUtilization; r.GPUMemoryUtilization = &most }, Price: change.PriceNearlyFree})
	}
	return a
}

// mostUtilization leaves a little of the device to other programs.
const mostUtilization = 0.95

// withoutGraphs is the price of launching each kernel individually: decoding a few sequences then waits for the host,
// taking 1.7 times as long for 7B on an A800 (vllm-project/vllm-omni#7960) and up to three times for smaller models, of
// which the step model only captures what exceeds kernel time. Maintainers recommend it after shorter contexts, fewer
// sequences and fewer bits (docs.vllm.ai, conserving memory).
const withoutGraphs = engineChange + 1

func graphsAxis(q *question.Question) Axis {
	a := asGiven("enforce_eager")
	if hasGraphs(q) {
		a.Settings = append(a.Settings, change.Setting{Words: "no CUDA graphs", Short: "eager",
			Set: func(r *api.Request) { yes := true; r.EnforceEager = &yes }, Price: withoutGraphs})
	}
	return a
}

// hasGraphs reports whether the engine captures CUDA graphs.
func hasGraphs(q *question.Question) bool {
	return api.FieldByName("enforce_eager").OwnedBy(q.Engine.Name()) && !question.IsTrue(q.Request.EnforceEager)
}

// fewerGraphs limits CUDA graphs to a smaller batch that the load does not exceed. It is a separate change, because
// otherwise the number of sequences determines what is captured.
func fewerGraphs(q *question.Question) (out []change.Setting) {
	if !hasGraphs(q) {
		return nil
	}
	for _, n := range []plan.Int{64, 16} {
		if n < q.Request.Sequences || q.Request.GraphBatch > 0 && n >= q.Request.GraphBatch {
			continue
		}
		words := fmt.Sprintf("CUDA graphs up to batch %d", n)
		out = append(out, change.Setting{Words: words, Short: words, Set: func(r *api.Request) { r.GraphBatch = n },
			Price: change.PriceNearlyFree * float64(3+len(out))})
	}
	return out
}

func attentionAxis(q *question.Question) Axis {
	a := asGiven("attention")
	if q.Request.Attention == "eager" {
		a.Settings = append(a.Settings, change.Setting{Words: "attention eager → sdpa", Short: "sdpa",
			Set: func(r *api.Request) { r.Attention = "sdpa" }, Price: 0})
	}
	return a
}

// narrowKeys is the price of keys below eight bits in addition to the perplexity loss, which is published for short
// texts: long ones, for which people quantize the cache, lose more.
const narrowKeys = 2

// lossOfCache returns the quality cost of changing the KV cache format.
func lossOfCache(o *quality.Order, from, to string) float64 {
	of := func(name string) float64 {
		if f := dtype.FindFormat(name); f != nil {
			return o.Cache(f, f).Loss()
		}
		return 0
	}
	loss := max(0, of(to)-of(from))
	if f := dtype.FindFormat(to); f != nil && f.Bits() < 8 {
		loss += narrowKeys
	}
	return loss
}

// lossOfWeights returns the quality cost of changing the weight recipe.
func lossOfWeights(o *quality.Order, from, to string) float64 {
	of := func(name string) float64 {
		if r := dtype.FindRecipe(name); r != nil {
			return o.Weights(r).Loss()
		}
		return 0
	}
	return max(0, of(to)-of(from))
}
