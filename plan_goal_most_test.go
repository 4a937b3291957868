package memwall

import (
	"errors"
	"testing"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/workload"
)

// TestMostUsers: as many users as a plan says that it holds keep the goal when they are simulated, a tenth more do not, and the edges
// of the band lie about it. A search for the best server of the same plan says as many.
func TestMostUsers(t *testing.T) {
	for _, c := range []struct {
		on           string
		first, token float64
	}{{"1xh100", 1000, 0}, {"1xh100", 2000, 40}, {"1xl40s", 1000, 30}, {"2xl40s", 3000, 0}} {
		r := &Request{Ask: api.AskSim, Model: "llama-3.1-8b", Hardware: c.on}
		r.Engine, r.Weights, r.KV, r.Goal = "vllm", "fp8", "bf16", &Goal{TTFT: map[string]float64{"p99": c.first}, MostUsers: true}
		if c.token > 0 {
			r.Goal.TPOT = map[string]float64{"p99": c.token}
		}
		v := goalOf(t, r).Simulated
		if v.MostUsers == nil || v.MostUsersLow == nil || *v.MostUsersLow > *v.MostUsers || *v.MostUsersHigh < *v.MostUsers {
			t.Fatalf("%+v: %+v", c, v)
		}
		for n, holds := range map[int64]bool{*v.MostUsers: true, *v.MostUsers + max(1, *v.MostUsers/10): false} {
			again := *r
			again.Goal, again.Workload = &Goal{TTFT: r.Goal.TTFT, TPOT: r.Goal.TPOT}, &workload.Spec{Concurrency: plan.Int(n)}
			s := goalOf(t, &again).Simulated
			if got := s.Holds && *s.GoalMet; got != holds {
				t.Errorf("%+v holds %d users, and of %d the goal is met: %v", c, *v.MostUsers, n, got)
			}
		}
		if c.token == 0 || c.on[0] != '1' {
			continue // a search assumes bounds that nobody gave, and looks at other layouts too
		}
		search := *r
		search.Ask, search.MaxSeqs = "plan", 0
		if f := goalOf(t, &search).Best.Fleet; 10*max(*f.HoldsUsers-*v.MostUsers, *v.MostUsers-*f.HoldsUsers) > *v.MostUsers {
			t.Errorf("%+v: sim holds %d users, plan %d", c, *v.MostUsers, *f.HoldsUsers)
		}
	}
}

// TestMostUsersRefused: who asks how many users there may be says within what, and not who asks.
func TestMostUsersRefused(t *testing.T) {
	most := func() *Goal { return &Goal{TTFT: map[string]float64{"p99": 1000}, MostUsers: true} }
	for name, r := range map[string]*Request{
		"no bounds":  {Ask: api.AskSim, Goal: &Goal{MostUsers: true}},
		"a rate":     {Ask: api.AskSim, Goal: most(), Workload: &workload.Spec{Rate: 3}},
		"users":      {Ask: "plan", Goal: most(), Workload: &workload.Spec{Concurrency: 8}},
		"least time": {Ask: "plan", Goal: &Goal{TTFT: most().TTFT, MostUsers: true, Minimize: "latency"}},
	} {
		r.Model, r.Hardware = "llama-3.1-8b", "h100"
		var e *Error
		if _, err := Ask(r); !errors.As(err, &e) || e.Hint == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	r := &Request{Ask: "plan", Model: "llama-3.1-8b", Hardware: "l4", Goal: most()}
	r.Goal.TPOT = map[string]float64{"p99": 1}
	if a := goalOf(t, r); a.Best != nil || a.Verdict != DoesNotFit || a.NearestMiss == nil || a.NearestMiss.Why == "" {
		t.Errorf("%+v", a)
	}
}
