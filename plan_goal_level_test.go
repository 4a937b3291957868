package memwall

import (
	"testing"

	"github.com/memwall/memwall/workload"
)

// TestCurvesAreMonotone: along a curve nothing gets faster or dearer, and what is not held once is not held beyond; the load that was
// asked for is as it was played.
func TestCurvesAreMonotone(t *testing.T) {
	closed := forUsers("llama-3.1-8b", "h100,l40s", 40, 1000, 30)
	rate := forUsers("llama-3.1-8b", "rtx-4090,l40s", 0, 1000, 60)
	rate.Workload = &workload.Spec{Rate: 10, Requests: 400, Seed: 5}
	few := forUsers("qwen3-30b-a3b", "a100-sxm-80gb", 6, 2000, 40)
	few.Workload.Requests = 100
	curves := 0
	for _, r := range []*Request{closed, rate, few} {
		a := goalOf(t, r)
		for i := range a.Candidates {
			c := &a.Candidates[i]
			for j := range c.Fleet.Curve {
				p := &c.Fleet.Curve[j]
				if p.Share == 1 && (*p.TTFT != *c.Simulated.TTFT || *p.TPOT != *c.Simulated.TPOT || !p.Met) {
					t.Errorf("%s: at all of the load %+v, played %+v", c.Change, p.TTFT, c.Simulated.TTFT)
				}
				if j == 0 {
					curves++
					continue
				}
				o := &c.Fleet.Curve[j-1]
				if p.TTFT.P99 < o.TTFT.P99 || p.TTFT.P50 < o.TTFT.P50 || p.TPOT.P99 < o.TPOT.P99 || p.TPOT.Mean < o.TPOT.Mean {
					t.Errorf("%s is faster at %g of the load than at %g", c.Change, p.Share, o.Share)
				}
				if p.Met && !o.Met || p.Output < o.Output || p.USDPerMillion != nil && *p.USDPerMillion > *o.USDPerMillion {
					t.Errorf("%s: at %g of the load %+v, at %g %+v", c.Change, p.Share, p, o.Share, o)
				}
			}
		}
	}
	if curves < 4 {
		t.Errorf("only %d curves", curves)
	}
}
