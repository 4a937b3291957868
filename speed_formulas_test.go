package memwall

import (
	"strings"
	"testing"

	"github.com/memwall/memwall/internal/timing"
	"github.com/memwall/memwall/plan"
)

// TestFormulasOfServing: every part of a step of an engine that batches, and the time to the first token, is printed
// as it is computed: with users, pipelines, shared experts, drafts, pools and caches that are full.
func TestFormulasOfServing(t *testing.T) {
	off, accepted := true, 0.8
	for _, r := range []Request{
		{Model: "llama-3.1-70b", Hardware: "4xh100", Plan: plan.Plan{Engine: "vllm", Weights: "fp8", TP: 4, Sequences: 32, Context: 4096}},
		{Model: "llama-3.1-70b", Hardware: "4xl40s",
			Plan: plan.Plan{Engine: "sglang", Weights: "awq", TP: 2, PP: 2, Sequences: 8, Context: 4096}},
		{Model: "deepseek-v3", Hardware: "8xh200", Plan: plan.Plan{Engine: "vllm", TP: 1, DP: 8, EP: 8, Sequences: 64, Context: 4096}},
		{Model: "gpt-oss-120b", Hardware: "b200", Plan: plan.Plan{Engine: "tensorrt-llm", Sequences: 16, Context: 4096,
			Serving: plan.Serving{StreamInterval: 10, BatchWait: 20}}},
		{Model: "qwen3-next-80b-a3b", Hardware: "4xh100",
			Plan: plan.Plan{Engine: "vllm", TP: 4, Sequences: 4, Context: 4096, Serving: plan.Serving{EnforceEager: &off}}},
		{Model: "llama-3.1-70b", Hardware: "2xh100", Plan: plan.Plan{Engine: "vllm", Weights: "fp8", TP: 2, Sequences: 512, Context: 8192}},
		{Model: "llama-3.1-70b", Hardware: "4xh100",
			Plan: plan.Plan{Engine: "vllm", Weights: "fp8", TP: 4, Context: 4096, DraftModel: "llama-3.2-1b", DraftTokens: 4,
				Acceptance: &accepted}},
		{Model: "llama-3.1-70b", Hardware: "10xh100",
			Plan: plan.Plan{Engine: "vllm", Weights: "fp8", TP: 2, Sequences: 64, Context: 5120,
				Serving: plan.Serving{Disaggregated: &plan.Disaggregated{Prefill: 1, Decode: 4}}}},
	} {
		r.Ask, r.Explain = "fit", true
		a, err := Ask(&r)
		if err != nil {
			t.Fatalf("%s: %v", r.Model, err)
		}
		checkFormulas(t, &r, a)
		for _, at := range []string{"/speed/parts/0/ms", "/speed/parts/1/ms", "/speed/ttft_ms", "/speed/ttft_unloaded_ms",
			"/speed/total_tokens_per_s"} {
			if e := a.Explain[at]; len(e.Inputs) < 2 || !strings.ContainsAny(e.Formula, "×/") {
				t.Errorf("%s with %s: %s = %s with %d inputs", r.Model, r.Engine, at, e.Formula, len(e.Inputs))
			}
		}
		for i, p := range a.Speed.Parts {
			if e := a.Explain["/speed/parts/"+string(rune('0'+i))+"/ms"]; i < 10 && len(e.Inputs) == 0 {
				t.Errorf("%s with %s: %s has no formula", r.Model, r.Engine, p.Name)
			}
		}
	}
}

// TestFormulasBesideCopies: what crosses a link is not part of the loop's formulas, and none of them is printed that it
// makes wrong.
func TestFormulasBesideCopies(t *testing.T) {
	r := Request{Ask: "fit", Explain: true, Model: "llama-3.1-8b", Hardware: "h100",
		Plan: plan.Plan{Engine: "generic", Context: 4096, Offload: &plan.Offload{Weights: "host"}}}
	a, err := Ask(&r)
	if err != nil {
		t.Fatal(err)
	}
	if !timing.Copied(a.Speed) {
		t.Fatalf("weights on the host cross no link: %+v", a.Speed.Parts)
	}
	checkFormulas(t, &r, a)
}
