package memwall

import (
	"testing"

	"github.com/memwall/memwall/plan"
)

// TestCheckpointsOf32BitsAreLoadedIn16: by vLLM and SGLang, KV cache included, unless the plan says f32.
func TestCheckpointsOf32BitsAreLoadedIn16(t *testing.T) {
	for _, c := range []struct{ engine, model, weights, wantWeights, wantKV string }{
		{"vllm", "smollm-1.7b", "", "bf16", "bf16"},
		{"vllm@0.8", "smollm-1.7b", "", "f16", "f16"},
		{"vllm@0.8", "gemma-2-9b", "", "bf16", "bf16"},
		{"vllm", "smollm-1.7b", "f16", "f16", "f16"},
		{"vllm", "smollm-1.7b", "awq", "awq", "bf16"},
		{"sglang", "smollm-1.7b", "", "f16", "f16"},
		{"transformers", "smollm-1.7b", "", "f32", "f32"},
		{"vllm", "llama-3.1-8b", "", "bf16", "bf16"},
	} {
		a, err := Ask(&Request{Ask: "fit", Model: c.model, Hardware: "h100", Plan: plan.Plan{Engine: c.engine, Weights: c.weights}})
		if err != nil {
			t.Fatal(err)
		}
		if a.Plan.Weights != c.wantWeights || a.Plan.KV != c.wantKV {
			t.Errorf("%s on %s, weights %q: weights %s and KV %s, want %s and %s", c.model, c.engine, c.weights, a.Plan.Weights, a.Plan.KV,
				c.wantWeights, c.wantKV)
		}
	}
	explicit, err := Ask(&Request{Ask: "fit", Model: "smollm-1.7b", Hardware: "h100", Plan: plan.Plan{Engine: "vllm", Weights: "f32"}})
	if err != nil {
		t.Fatal(err)
	}
	if explicit.Plan.Weights != "f32" || int64(explicit.Model.WeightsBytes) != 4*explicit.Model.Parameters {
		t.Errorf("f32 asked: %s, %d bytes for %d parameters", explicit.Plan.Weights, explicit.Model.WeightsBytes, explicit.Model.Parameters)
	}
}
