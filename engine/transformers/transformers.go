// Package transformers models the memory that Hugging Face transformers holds while generating: the weights, a cache
// that grows with every token, and the activations of a prompt processed in one piece. Nothing is preallocated, and no
// share of the device is reserved.
//
// rules.go has what changed between versions, cache.go the caches, prompt.go the activations, sizer.go what a device
// holds.
package transformers

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/plan"
)

// Engine is Hugging Face transformers.
type Engine struct{}

// Name of the engine.
func (Engine) Name() string { return "transformers" }

// Latest version whose rules are known.
func (Engine) Latest() engine.Version { return Latest }

// Defaults of generate(): a dynamic cache in the model's format, and device_map="auto", which puts whole
// layers on each device.
func (Engine) Defaults(j *engine.Job) {
	p := j.Plan
	if p.KV == "" {
		p.KV = engine.ActivationFormat(j.Model).Name
		j.Default("kv", p.KV)
	}
	engine.OneFormat(p)
	if p.Attention == "" || p.Attention == "auto" {
		p.Attention = defaultAttention(j.Version)
		j.Default("attention", p.Attention)
	}
	engine.LayersOverDevices(j, "device_map = auto")
	engine.EagerNote(j, true)
}

// Check refuses what transformers refuses.
func (Engine) Check(j *engine.Job) error {
	if err := engine.CheckParallel(j); err != nil {
		return err
	}
	if err := engine.CheckEvenExperts(j); err != nil {
		return err
	}
	p := j.Plan
	switch {
	case p.TP > 1 && j.Version.Before(tensorParallel):
		return &plan.Problem{Field: "tp", Value: fmt.Sprint(p.TP), Impossible: true,
			Message: fmt.Sprintf("transformers %s has no tensor parallelism", j.Version),
			Fix:     fmt.Sprintf("transformers@%s or newer, or pp", tensorParallel)}
	case p.Attention == "sdpa" && j.Version.Before(attentionDefault.From):
		return &plan.Problem{Field: "attention", Value: p.Attention, Impossible: true,
			Message: fmt.Sprintf("transformers %s has no sdpa attention", j.Version), Fix: "eager or flash"}
	}
	if err := checkFlash(j); err != nil {
		return err
	}
	if r := dtype.FindRecipe(p.Weights); r != nil && r.Store == dtype.GGUF {
		return &plan.Problem{Field: "weights", Value: p.Weights, Impossible: true,
			Message: fmt.Sprintf("transformers unpacks GGUF files as it loads them, so that %s does not stay as it is", r.Title),
			Fix:     "bf16, nf4 or bnb-int8; llama.cpp for the file"}
	}
	return checkCache(j)
}

// checkFlash: FlashAttention 2 takes 16-bit models on devices from Ampere on.
func checkFlash(j *engine.Job) error {
	if j.Plan.Attention != "flash" {
		return nil
	}
	problem := func(message string) error {
		return &plan.Problem{Field: "attention", Value: "flash", Impossible: true, Message: message, Fix: "sdpa"}
	}
	if f := engine.ActivationFormat(j.Model); f.BlockBytes != 2 {
		return problem(fmt.Sprintf("FlashAttention takes fp16 and bf16, and the model is in %s", f.Name))
	}
	if d := j.Device(0); d != nil && d.Vendor == "NVIDIA" && strings.HasPrefix(d.Capability, "7.") {
		return problem(fmt.Sprintf("FlashAttention needs compute capability 8.0, and a %s has %s", d.Name, d.Capability))
	}
	return nil
}

func checkCache(j *engine.Job) error {
	p := j.Plan
	f := dtype.FindFormat(p.KV)
	bits, quantised := quantBits[f]
	switch {
	case quantised && j.Version.Before(quantizedCache):
		return &plan.Problem{Field: "kv", Value: p.KV, Message: fmt.Sprintf("transformers %s has no quantised cache", j.Version),
			Fix: "transformers@" + quantizedCache.String() + " or newer"}
	case quantised && bits > 0:
	case f == dtype.BF16 || f == dtype.F16 || f == dtype.F32:
	default:
		return &plan.Problem{Field: "kv", Value: p.KV, Message: fmt.Sprintf("transformers cannot keep its KV cache in %s", p.KV),
			Fix: "bf16, int8, int4 or i2"}
	}
	if dtype.FindFormat(p.KVV) != f {
		return &plan.Problem{Field: "kv_v", Value: p.KVV, Message: "transformers keeps keys and values in one format",
			Fix: "leave kv_v out"}
	}
	return nil
}

// static reports whether the plan asks for a cache of full length from the start.
func static(p *plan.Plan) bool {
	for _, a := range p.EngineArgs {
		if strings.Contains(a, "cache_implementation") && strings.Contains(a, "static") {
			return true
		}
	}
	return false
}
