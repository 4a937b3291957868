package memwall

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/workload"
)

// followed are questions that take a while, and the phases that they go through.
var followed = []struct {
	name   string
	make   func() *Request
	phases []string
}{
	{"a plan that fits", func() *Request {
		r := &Request{Ask: api.AskPlan, Model: "qwen3-32b", Hardware: "rtx-4090"}
		r.Weights, r.Context = "q4_k_m", 32768
		return r
	}, []string{api.PhaseSearch, api.PhaseLadder}},
	{"nothing that was left open fits", func() *Request {
		r := &Request{Ask: api.AskPlan, Model: "qwen3-32b", Hardware: "rtx-3060"}
		all := plan.Int(-1)
		r.Weights, r.Context, r.GPULayers, r.KV = "q4_k_m", 32768, &all, "f16"
		return r
	}, []string{api.PhaseSearch, api.PhaseLoose, api.PhaseLadder}},
	{"hardware for a model", func() *Request { return &Request{Ask: api.AskPlan, Model: "qwen3-8b"} }, []string{api.PhaseSearch}},
	{"models for hardware", func() *Request { return &Request{Ask: api.AskPick, Hardware: "rtx-3060"} }, []string{api.PhaseSearch}},
	{"a goal", func() *Request {
		return &Request{Ask: api.AskPlan, Model: "qwen3-8b", Hardware: "l40s,rtx-4090", Workload: &workload.Spec{Rate: 4, Requests: 400},
			Goal: &Goal{TTFT: map[string]float64{"p99": 2000}}}
	}, []string{api.PhaseEstimate, api.PhasePlay, api.PhaseVary, api.PhaseDetail}},
	{"training", func() *Request {
		r := &Request{Ask: api.AskPlan, For: api.AskTrain, Model: "llama-3.1-8b", Hardware: "8xh100"}
		r.SequenceLength = 4096
		return r
	}, []string{api.PhaseSearch}},
	{"a simulation", func() *Request {
		return &Request{Ask: api.AskSim, Model: "llama-3.1-8b", Hardware: "h100", Versus: []string{"static"},
			Workload: &workload.Spec{Rate: 4, Requests: plan.Int(3000), Prompt: workload.Law{Mean: 1024}, Output: workload.Law{Mean: 256}}}
	}, []string{api.PhaseSimulate, api.PhaseCapacity, api.PhaseBands, api.PhaseVersus}},
}

// TestProgress: who watches is told of every phase in its order, plans are only ever added, what is done is no more than
// there is, and the answer is the one that who does not watch gets.
func TestProgress(t *testing.T) {
	for _, c := range followed {
		t.Run(c.name, func(t *testing.T) {
			var phases []string
			decided, best := 0, ""
			a := Asker{Models: catalogOnce, Watch: &Watch{Progress: func(p Progress) {
				if n := len(phases); n == 0 || phases[n-1] != p.Phase {
					phases = append(phases, p.Phase)
				}
				if p.Of > 0 && p.Done > p.Of || p.RequestsOf > 0 && p.Requests > p.RequestsOf || p.SimulatedOf > 0 &&
					p.SimulatedOf < p.Simulated/3 {
					t.Errorf("too far: %+v", p)
				}
				if e := p.Evaluated; e != nil {
					if e.Decided < decided {
						t.Errorf("%d plans after %d", e.Decided, decided)
					}
					decided = e.Decided
				}
				if best = p.Best; p.String() == "" || !slices.ContainsFunc(Phases(), func(x [2]string) bool { return x[0] == p.Phase }) {
					t.Errorf("no words: %+v", p)
				}
			}}}
			watched, err := a.Ask(c.make())
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.phases, phases); d != "" {
				t.Error(d)
			}
			if e := watched.Evaluated; e != nil && (decided == 0 || decided > e.Decided) {
				t.Errorf("%d of %d plans were told of", decided, e.Decided)
			}
			if watched.Best != nil && c.phases[len(c.phases)-1] == api.PhaseLadder && best == "" {
				t.Error("the best was not told of")
			}
			alone, err := asker().Ask(c.make())
			if err != nil || text(t, alone) != text(t, watched) {
				t.Errorf("another answer to who does not watch: %v", err)
			}
		})
	}
}
