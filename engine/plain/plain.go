// Package plain sizes engines whose memory has not been compared byte for byte: MLX, ExLlama, MLC LLM, TGI, LMDeploy
// and KTransformers. What they must hold is exact: the weights as stored and the cache as the engine stores it. The
// rest, activations of a prompt chunk and the runtime, has a wide band.
//
// rules.go has a row per engine, sizer.go what a device holds, starts.go how each engine is started, launch.go command
// lines and their parser.
package plain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/plan"
)

// Engine is one of those in rules.go.
type Engine struct{ *rules }

// Engines are all of them.
func Engines() (out []engine.Engine) {
	for i := range all {
		out = append(out, Engine{&all[i]})
	}
	return out
}

// Name of the engine.
func (e Engine) Name() string { return e.name }

// Title is its name as its makers write it.
func (e Engine) Title() string { return e.title }

// Latest version whose rules are known.
func (e Engine) Latest() engine.Version { return e.latest }

// Streams reports whether the engine is measured with one user at a time.
func (e Engine) Streams() bool { return e.stream }

// Defaults are the engine's own cache, the pieces of its prompts, and how it uses several devices.
func (e Engine) Defaults(j *engine.Job) {
	p := j.Plan
	if p.KV == "" {
		p.KV = e.kv[0].names[0]
		j.Default("kv", p.KV)
	}
	if p.KVV == "" {
		p.KVV = p.KV
	}
	for _, format := range []*string{&p.KV, &p.KVV} {
		if f := e.cache(*format); f != nil && f.packed {
			*format = f.names[0] // one name for each
		}
	}
	if p.MaxBatchedTokens == 0 {
		p.MaxBatchedTokens = plan.Int(e.chunk)
		j.Default("max_num_batched_tokens", e.chunk)
	}
	if e.pool != nil && p.FreeGPUMemoryFraction == nil {
		share := e.pool.share
		p.FreeGPUMemoryFraction = &share
		j.Default("free_gpu_memory_fraction", share)
	}
	if e.layers {
		engine.LayersOverDevices(j, e.title)
	} else {
		engine.DefaultParallel(j)
	}
	e.remarks(j)
}

func (e Engine) remarks(j *engine.Job) {
	j.Note("rules_read", "info", "engine", "%s: weights and cache are exact, the rest is assumed with a band: no log of it was compared (%s)", e.title, e.source)
	if d := j.Device(0); e.experts && d != nil && hasExperts(j) {
		j.Note("experts_hosted", "info", "offload", "%s keeps routed experts in host memory, where the processor computes them", e.title)
	}
}

func hasExperts(j *engine.Job) bool { return j.Model.Traits.Experts > 0 }

// Check refuses what the engine refuses.
func (e Engine) Check(j *engine.Job) error {
	if err := engine.CheckParallel(j); err != nil {
		return err
	}
	if err := engine.CheckCross(j, e.title); err != nil {
		return err
	}
	if err := e.checkDevice(j); err != nil {
		return err
	}
	if err := e.checkWeights(j.Plan.Weights); err != nil {
		return err
	}
	for _, f := range []struct{ field, value string }{{"kv", j.Plan.KV}, {"kv_v", j.Plan.KVV}} {
		if e.cache(f.value) == nil {
			return &plan.Problem{Field: f.field, Value: f.value, Message: fmt.Sprintf("%s cannot keep its KV cache in %s", e.title, f.value),
				Fix: strings.Join(e.caches(), ", ")}
		}
	}
	if e.shardsOnly && j.Plan.PP > 1 {
		return &plan.Problem{Field: "pp", Value: fmt.Sprint(j.Plan.PP), Message: e.title + " has no pipeline parallelism",
			Fix: fmt.Sprintf("tp = %d", j.Plan.PP*max(1, j.Plan.TP))}
	}
	if !e.pairs && e.cache(j.Plan.KV) != e.cache(j.Plan.KVV) {
		return &plan.Problem{Field: "kv_v", Value: j.Plan.KVV, Message: e.title + " keeps keys and values in one format",
			Fix: "leave kv_v out"}
	}
	return nil
}

func (e Engine) checkDevice(j *engine.Job) error {
	d := j.Device(0)
	if d == nil || e.vendors == nil || slices.Contains(e.vendors, d.Vendor) {
		return nil
	}
	return &plan.Problem{Field: "engine", Value: e.name, Impossible: true,
		Message: fmt.Sprintf("%s runs on devices of %s, and %s is one of %s", e.title, strings.Join(e.vendors, ", "), d.Name,
			cmp.Or(d.Vendor, "another maker")), Fix: "--engine " + e.instead}
}

// checkWeights: GGUF files are unpacked, or not read at all, by engines that are not made for them.
func (e Engine) checkWeights(recipe string) error {
	r := dtype.FindRecipe(recipe)
	gguf := r != nil && r.Store == dtype.GGUF && !e.gguf
	foreign := slices.ContainsFunc(e.refuses, func(prefix string) bool { return strings.HasPrefix(recipe, prefix) })
	if !gguf && !foreign {
		return nil
	}
	return &plan.Problem{Field: "weights", Value: recipe, Impossible: true,
		Message: fmt.Sprintf("%s does not run weights in %s as they are", e.title, recipe), Fix: e.reads}
}

// cache is the format that a plan names; nil for none.
func (e *rules) cache(name string) *kvFormat {
	canonical := name
	if f := dtype.FindFormat(name); f != nil {
		canonical = f.Name
	}
	for i := range e.kv {
		if n := e.kv[i].names; slices.Contains(n, name) || slices.Contains(n, canonical) {
			return &e.kv[i]
		}
	}
	return nil
}

func (e *rules) caches() (out []string) {
	for i := range e.kv {
		out = append(out, e.kv[i].names[0])
	}
	return out
}
