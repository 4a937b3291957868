package memwall

import (
	"testing"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/workload"
)

// experts16 is a model of experts on two nodes, whose ranks attend apart and share the experts of their node.
func experts16(more func(*Request)) Request {
	r := Request{Ask: api.AskSim, Model: "deepseek-v3", Hardware: "16xh200", Plan: plan.Plan{Engine: "sglang", TP: 1, DP: 8, EP: 8},
		Workload: &workload.Spec{Rate: 2, Requests: 1000, Seed: 1}}
	more(&r)
	return r
}

// TestPoolsStepApart: workers that only decode never wait for the prompts of the other pool: nearly all gaps between tokens are alike.
func TestPoolsStepApart(t *testing.T) {
	a := asked(t, api.AskSim, experts16(func(r *Request) { r.Disaggregated = &plan.Disaggregated{Prefill: 1, Decode: 1} }))
	if g := a.Simulated.ITL; g.P99 > 1.5*g.P50 {
		t.Errorf("gaps of %g ms at p99 and %g at p50: who decodes waits for prompts", g.P99, g.P50)
	}
}

// TestReplicasStepApart: two replicas with a load each are as fast as one with its own.
func TestReplicasStepApart(t *testing.T) {
	one := asked(t, api.AskSim, experts16(func(r *Request) { r.Hardware = "8xh200" }))
	two := asked(t, api.AskSim, experts16(func(r *Request) {
		r.Hardware, r.Replicas, r.Router = "8xh200", 2, "round-robin"
		r.Workload.Rate, r.Workload.Requests = 4, 2000
	}))
	if x := two.Simulated.TPOT.P50 / one.Simulated.TPOT.P50; x > 1.1 { // in lockstep it was 8
		t.Errorf("two replicas take %g times as long a token as one with half the load", x)
	}
}
