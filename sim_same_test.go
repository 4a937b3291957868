package memwall

import (
	"reflect"
	"testing"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/planner/serve"
	"github.com/memwall/memwall/internal/simulate"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/workload"
)

// TestLargeFleetsSayWhatIsPlayed: of a fleet of more replicas than are played together, as many are named as were.
func TestLargeFleetsSayWhatIsPlayed(t *testing.T) {
	r := forUsers("llama-3.1-8b", "l4", 0, 4000, 200)
	r.Workload, r.Engine, r.Weights, r.KV, r.TP, r.PP = &workload.Spec{Rate: 60, Requests: 800}, "vllm", "fp8", "bf16", 1, 1
	r.Replicas = 40
	if c := goalOf(t, r).Best; c == nil || c.Fleet.Replicas <= serve.MostTogether || c.Simulated.Replicas != serve.MostTogether {
		t.Errorf("%+v, and %+v were played", c.Fleet, c.Simulated)
	}
}

// TestPlanIsSim: the plans of a search for a goal, asked as simulations, have the same percentiles, edges and rates: as the plan that
// the answer shows, and as its patch over what was asked, of which all else is filled in anew.
func TestPlanIsSim(t *testing.T) {
	users := forUsers("llama-3.1-8b", "h100,l40s", 40, 1000, 40)
	users.Workload.Requests = 0
	rate := forUsers("llama-3.1-8b", "h100", 0, 800, 0)
	rate.Workload = &workload.Spec{Rate: 12, Seed: 7, Prompt: workload.Law{Law: "lognormal", Mean: 1500, CV: 1},
		Output: workload.Law{Law: "exponential", Mean: 200}}
	rate.Engine = "vllm,sglang"
	slots := forUsers("llama-3.1-8b", "rtx-4090", 4, 4000, 60)
	slots.Engine = "llama-server"
	brief := forUsers("llama-3.1-8b", "l4", 8, 3000, 0)
	brief.Workload.Requests, brief.Workload.Warmup, brief.Engine = 300, new(plan.Int), "vllm"
	timed := forUsers("llama-3.1-8b", "l40s", 0, 2000, 0)
	timed.Workload, timed.Engine = &workload.Spec{Rate: 3, DurationS: 300}, "vllm"
	split := forUsers("llama-3.1-8b", "4xh100", 0, 1500, 0)
	split.Workload, split.Engine, split.TP = &workload.Spec{Rate: 6}, "vllm", 1
	split.Disaggregated = &plan.Disaggregated{Prefill: 1, Decode: 3}
	compared := 0
	for _, r := range []*Request{users, rate, slots, brief, timed, split} {
		a := goalOf(t, r)
		for i := range a.Candidates[:min(3, len(a.Candidates))] {
			c := &a.Candidates[i]
			patched, err := Patch(r, c.Patch)
			if err != nil {
				t.Fatal(err)
			}
			shown := *c.Plan
			for how, again := range map[string]*Request{"the plan": &shown, "its patch": patched} {
				again.Ask = api.AskSim
				b, err := Ask(again)
				if err != nil {
					t.Errorf("%s on %s, %s: %s: %v", r.Model, r.Hardware, c.Change, how, err)
					continue
				}
				compared++
				for name, pair := range map[string][2]any{
					"first token": {c.Simulated.TTFT, b.Simulated.TTFT}, "per token": {c.Simulated.TPOT, b.Simulated.TPOT},
					"end to end": {c.Simulated.E2E, b.Simulated.E2E},
					"wait":       {c.Simulated.Wait, b.Simulated.Wait}, "requests": {c.Simulated.Requests, b.Simulated.Requests},
					"throughput": {c.Simulated.Throughput, b.Simulated.Throughput},
					"fast edge":  {simulate.FirstToken(c.Simulated.Low), simulate.FirstToken(b.Simulated.Low)},
					"slow edge":  {simulate.PerToken(c.Simulated.High), simulate.PerToken(b.Simulated.High)},
				} {
					if !reflect.DeepEqual(pair[0], pair[1]) {
						t.Errorf("%s on %s, %s: %s of %s: %+v, simulated %+v", r.Model, r.Hardware, c.Change, name, how, pair[0], pair[1])
					}
				}
			}
		}
	}
	if compared < 20 {
		t.Errorf("only %d plans were compared", compared)
	}
}
