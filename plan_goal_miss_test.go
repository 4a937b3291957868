package memwall

import (
	"fmt"
	"strings"
	"testing"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/workload"
)

// TestMissSaysWhatIsAchieved: where no fleet holds, the nearest says how many users it holds: as many keep the goal when they are
// simulated, and one more does not.
func TestMissSaysWhatIsAchieved(t *testing.T) {
	for _, c := range []struct {
		on           string
		users        int64
		first, token float64
	}{{"1xh100", 40, 5000, 7}, {"2xl40s", 60, 3000, 25}, {"1xl4", 32, 4000, 50}} {
		r := forUsers("llama-3.1-8b", c.on, c.users, c.first, c.token)
		r.Engine, r.Weights, r.KV, r.Workload.Requests = "vllm", "fp8", "bf16", 400
		m := goalOf(t, r).NearestMiss
		if m == nil || m.Fleet == nil || m.Fleet.HoldsUsers == nil || m.Simulated == nil {
			t.Errorf("%d users on %s: %+v", c.users, c.on, m)
			continue
		}
		holds := *m.Fleet.HoldsUsers
		if !strings.Contains(m.Why, fmt.Sprintf("holds %d of %d users", holds, c.users)) {
			t.Errorf("%d users on %s: %s", c.users, c.on, m.Why)
		}
		for _, n := range []int64{holds, holds + 1} {
			again, w := *m.Plan, *m.Plan.Workload
			w.Concurrency = plan.Int(n)
			again.Ask, again.Workload = api.AskSim, &w
			a, err := Ask(&again)
			if err != nil {
				t.Fatal(err)
			}
			if met := *a.Simulated.GoalMet; met != (n == holds) {
				t.Errorf("%s holds %d users, and of %d the goal is met: %v", c.on, holds, n, met)
			}
		}
	}
}

// TestMissOfARate: the same of requests that come by themselves, and of a load of which nothing is held.
func TestMissOfARate(t *testing.T) {
	r := forUsers("llama-3.1-8b", "1xl40s", 0, 1000, 40)
	r.Engine, r.Workload = "vllm", &workload.Spec{Rate: 30, Requests: 500}
	m := goalOf(t, r).NearestMiss
	if m == nil || m.Fleet.HoldsRate == nil || *m.Fleet.HoldsRate <= 0 || *m.Fleet.HoldsRate >= 30 ||
		!strings.Contains(m.Why, "of 30 requests/s") {
		t.Errorf("%+v", m)
	}
	r = forUsers("llama-3.1-8b", "1xl4", 20, 300, 0)
	r.Engine, r.Workload.Requests = "vllm", 200
	if m := goalOf(t, r).NearestMiss; m == nil || m.Fleet.HoldsUsers != nil ||
		!strings.Contains(m.Why, "with one user alone the first token takes") {
		t.Errorf("%+v", m)
	}
}

// TestSurprisesSayWhy: each fleet that only seems cheaper says why it is not.
func TestSurprisesSayWhy(t *testing.T) {
	r := forUsers("llama-3.1-70b", "h100-sxm-80gb,l40s", 50, 2000, 50)
	r.Engine, r.Weights, r.Workload.Requests = "tensorrt-llm", "fp8", 400
	a := goalOf(t, r)
	if len(a.Surprises) == 0 {
		t.Fatal("nothing seems cheaper")
	}
	for i := range a.Surprises {
		if a.Surprises[i].Why == "" {
			t.Errorf("%s loses without a reason", a.Surprises[i].Change)
		}
	}
}
