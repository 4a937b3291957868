package memwall

import (
	"math"
	"testing"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/workload"
)

// TestReplicasAreOneByOne: of requests that come in equal steps, are alike and go round, each replica sees what one alone sees, and all
// times are the same: whole models, speculation whose tokens are all accepted, layers on a host, ranks that attend apart. What differs where requests
// come at random is the load: every second arrival of a Poisson stream is more regular than such a stream of half the rate, by which
// TPOT may move a few percent.
func TestReplicasAreOneByOne(t *testing.T) {
	even := func(n int64, rate float64) *workload.Spec {
		return &workload.Spec{Rate: rate * float64(n), Requests: plan.Int(120 * n), Arrivals: "gamma", CV: new(float64), Warmup: new(plan.Int),
			Prompt: workload.Law{Law: "fixed", Mean: 1000}, Output: workload.Law{Law: "fixed", Mean: 100}}
	}
	for name, c := range map[string]struct {
		r    Request
		rate float64
	}{
		"whole": {Request{Model: "llama-3.1-8b", Hardware: "h100", Plan: plan.Plan{Engine: "vllm"}}, 6},
		"speculation": {Request{Model: "llama-3.1-70b", Hardware: "2xh100", Plan: plan.Plan{Engine: "vllm", Weights: "fp8",
			DraftModel: "llama-3.2-1b", DraftTokens: 3, Acceptance: new(1.0)}}, 1},
		"host": {Request{Model: "qwen3-30b-a3b", Hardware: "rtx-4070-ti-super", Plan: plan.Plan{Engine: "llama-server", Weights: "q4_k_m",
			LlamaCpp: plan.LlamaCpp{CPUMoE: new(plan.Int(20))}}}, 0.05},
		"apart": {Request{Model: "deepseek-v3", Hardware: "8xh200", Plan: plan.Plan{Engine: "sglang", TP: 1, DP: 8, EP: 8}}, 4},
	} {
		play := func(n int64) *api.Simulated {
			r := c.r
			r.Ask, r.Replicas, r.Router, r.Workload = api.AskSim, plan.Int(n), "round-robin", even(n, c.rate)
			return asked(t, api.AskSim, r).Simulated
		}
		one, two := play(1), play(2)
		if one == nil || two == nil {
			t.Errorf("%s: nothing was played", name)
		} else if !alike(one.TPOT, two.TPOT) || !alike(one.TTFT, two.TTFT) || !alike(one.E2E, two.E2E) {
			t.Errorf("%s: one %+v %+v, two %+v %+v", name, one.TPOT, one.TTFT, two.TPOT, two.TTFT)
		}
	}
}

// alike reports whether times are the same: means and medians to the last digit, and tails to what twice as many requests move them.
func alike(a, b *api.Percentiles) bool {
	return a.Mean == b.Mean && a.P50 == b.P50 && math.Abs(a.P90-b.P90) < 0.001*a.P90 && math.Abs(a.P99-b.P99) < 0.001*a.P99
}
