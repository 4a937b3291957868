package question

import (
	"testing"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/plan"
)

// TestDefaults: what is run where nobody says how: on a card of one's own llama.cpp and the best of the usual formats that fits, on
// servers what the model is published in; what a name states stays.
func TestDefaults(t *testing.T) {
	for _, c := range []struct {
		model, on       string
		plan            plan.Plan
		engine, weights string
	}{
		{"llama-3.1-8b", "rtx-4090", plan.Plan{}, "llama.cpp", "q8_0"},
		{"qwen3-32b", "rtx-4090", plan.Plan{}, "llama.cpp", "q4_k_m"},
		{"llama-3.1-8b", "p40", plan.Plan{}, "llama.cpp", "q8_0"},
		{"gpt-oss-20b", "rtx-4090", plan.Plan{}, "llama.cpp", "mxfp4"},
		{"Qwen/Qwen3-8B", "rtx-4090", plan.Plan{}, "vllm", "bf16"},
		{"Qwen/Qwen3-8B-AWQ", "rtx-4090", plan.Plan{}, "vllm", "awq"},
		{"llama-3.1-8b", "h100", plan.Plan{}, "vllm", "bf16"},
		{"llama-3.1-8b", "rtx-4090", plan.Plan{Sequences: 32}, "vllm", "bf16"},
		{"llama-3.1-8b", "rtx-4090", plan.Plan{Weights: "q4_k_m"}, "llama.cpp", "q4_k_m"},
		{"llama-3.1-8b", "rtx-4090", plan.Plan{Engine: "vllm"}, "vllm", "bf16"},
		{"llama-3.1-8b", "rtx-4090", plan.Plan{Engine: "ollama"}, "ollama", "q4_k_m"},
	} {
		q, err := (&Env{}).Prepare(&api.Request{Ask: "fit", Model: c.model, Hardware: c.on, Plan: c.plan})
		if err != nil {
			t.Fatal(err)
		}
		if got := q.Engine.Name(); got != c.engine || q.Request.Weights != c.weights {
			t.Errorf("%s on %s, %+v: %s with %s, want %s with %s", c.model, c.on, c.plan, got, q.Request.Weights, c.engine, c.weights)
		}
	}
}
