package memwall

import (
	"testing"

	"github.com/memwall/memwall/workload"
)

// TestSure: fleets that are planned to the slow edge keep the bounds there, cost no less than those planned to the middle, and hold no
// more of the load.
func TestSure(t *testing.T) {
	closed := forUsers("llama-3.1-8b", "h100,l40s", 40, 1000, 30)
	rate := forUsers("llama-3.1-8b", "l40s", 0, 1000, 60)
	rate.Workload = &workload.Spec{Rate: 9, Requests: 500}
	for _, r := range []*Request{closed, rate} {
		r.Engine = "vllm"
		likely := goalOf(t, r).Best
		sure := *r
		sure.Goal = &Goal{TTFT: r.Goal.TTFT, TPOT: r.Goal.TPOT, Sure: true}
		a := goalOf(t, &sure)
		if a.Best == nil || *a.Best.USDPerHour < *likely.USDPerHour {
			t.Fatalf("sure %+v, likely %+v", a.Best, likely.Fleet)
		}
		for i := range a.Candidates {
			c := &a.Candidates[i]
			slow := c.Simulated.High
			if c.Fleet.Meets != "yes" || slow.TTFT.P99 > 1000 || slow.TPOT.P99 > r.Goal.TPOT["p99"] {
				t.Errorf("%s: %s, %+v and %+v at the slow edge", c.Change, c.Fleet.Meets, slow.TTFT, slow.TPOT)
			}
		}
	}
}

// TestSureMisses: who cannot be sure is told that the middle of the band holds, and of how many users the slow edge does too.
func TestSureMisses(t *testing.T) {
	r := forUsers("llama-3.1-8b", "1xl40s", 40, 5000, 0)
	r.Engine, r.Weights, r.KV, r.Workload.Requests = "vllm", "fp8", "bf16", 400
	r.Goal.TPOT = map[string]float64{"p99": 60}
	a := goalOf(t, r)
	if a.Best == nil {
		t.Fatalf("%+v", a.NearestMiss)
	}
	least := a.Best.Simulated.TPOT.P99
	for i := range a.Candidates {
		least = min(least, a.Candidates[i].Simulated.TPOT.P99)
	}
	r.Goal.TPOT["p99"] = least * 1.05
	r.Goal.Sure = true
	m := goalOf(t, r).NearestMiss
	if m == nil || m.Fleet.HoldsUsers == nil || *m.Fleet.HoldsUsers >= 40 || *m.Fleet.HoldsUsers < 1 {
		t.Errorf("%+v", m)
	}
}
