package memwall

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/workload"
)

// law is lengths that spread widely.
func law(mean float64) workload.Law {
	return workload.Law{Law: "lognormal", Mean: mean, CV: 2}
}

// endless are questions of every kind that would take minutes: many requests, many devices, many plans.
func endless() map[string]*Request {
	load := func(n int, rate float64) *workload.Spec {
		return &workload.Spec{Rate: rate, Requests: plan.Int(n), Prompt: law(4000), Output: law(1500)}
	}
	goal := &Goal{TTFT: map[string]float64{"p99": 1000}, TPOT: map[string]float64{"p99": 50}}
	many := func(n int) (out []Request) {
		for range n {
			r := Request{Ask: "fit", Model: "deepseek-v3"}
			r.Engine, r.Context = "llama.cpp", 4096
			out = append(out, r)
		}
		return out
	}
	also := &Request{Ask: "fit", Model: "deepseek-v3", Hardware: "16xrtx-4090", Also: many(32)}
	also.Engine = "llama.cpp"
	return map[string]*Request{
		"a goal on any hardware": {Ask: api.AskPlan, Model: "deepseek-v3", Workload: load(200_000, 300), Goal: goal},
		"a goal of one kind": {Ask: api.AskPlan, Model: "llama-3.1-8b", Hardware: "h100", Workload: load(200_000, 2000),
			Goal: goal},
		"a goal for a closed loop": {Ask: api.AskPlan, Model: "qwen3-30b-a3b",
			Workload: &workload.Spec{Concurrency: 10_000, Requests: 1_000_000, Prompt: law(2000), Output: law(4000)}, Goal: goal},
		"a simulation":                {Ask: api.AskSim, Model: "llama-3.1-8b", Hardware: "h100", Workload: load(100_000_000, 10)},
		"a simulation that overflows": {Ask: api.AskSim, Model: "llama-3.1-8b", Hardware: "h100", Workload: load(10_000_000, 100_000)},
		"experts that step together": {Ask: api.AskSim, Model: "deepseek-v3", Hardware: "16xh200", Workload: load(10_000_000, 100),
			Plan: plan.Plan{Engine: "sglang", TP: 1, DP: 16, EP: 16}},
		"a simulation and its capacity": {Ask: api.AskSim, Model: "qwen3-8b", Hardware: "l40s", Workload: load(3_000, 1),
			Versus: []string{"static", "contiguous-kv", "no-prefix-cache"}},
		"plans":                  {Ask: api.AskPlan, Model: "deepseek-v3", Hardware: "8xh200", All: true},
		"plans for training":     {Ask: api.AskPlan, For: api.AskTrain, Model: "deepseek-v3", Hardware: "16384xh100", All: true},
		"picks":                  {Ask: api.AskPick, Hardware: "8xh200", All: true},
		"fits beside each other": also,
	}
}

// TestEveryAskEnds: whatever is asked ends soon after its time is over, with what was found by then or with an error that says
// so, and never as a fault of the program.
func TestEveryAskEnds(t *testing.T) {
	const limit, slack = 300 * time.Millisecond, time.Second
	for name, r := range endless() {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		start := time.Now()
		a, err := (&Asker{Models: Catalog{}}).AskContext(ctx, r)
		took := time.Since(start)
		cancel()
		if took > limit+slack {
			t.Errorf("%s: ended after %s", name, took)
		}
		var e *Error
		if err != nil && (!errors.As(err, &e) || e.Code == Internal) {
			t.Errorf("%s: %v", name, err)
		}
		t.Logf("%s: %s, %v", name, took.Round(time.Millisecond), err)
		if err == nil && a.Evaluated != nil && took > limit && !saysStopped(a) {
			t.Errorf("%s: the answer does not say that it was stopped", name)
		}
	}
}

func saysStopped(a *Answer) bool {
	for _, n := range a.Notes {
		if strings.Contains(n.Code, "stopped") {
			return true
		}
	}
	return a.Simulated != nil
}
