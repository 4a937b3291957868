package sim

import (
	"testing"
	"time"

	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/workload"
)

// simple is a clock of a step that costs something for each thing in it.
func simple(b speed.Batch) float64 {
	return 0.01 + 2e-5*float64(b.Decodes) + 2e-5*float64(b.Prefill) + 1e-9*float64(b.Decodes*b.Context)
}

func replica() Replica {
	return Replica{Timer: simple, Policy: Inflight, Paging: Paging{Blocks: 40000, BlockTokens: 16, Full: 1, PrefixCache: true},
		MaxSequences: 256, Budget: 8192, Ahead: true}
}

// list is a source of requests that are given.
type list []workload.Request

func (l *list) Next() (r workload.Request, ok bool, err error) {
	if len(*l) == 0 {
		return r, false, nil
	}
	r, *l = (*l)[0], (*l)[1:]
	return r, true, nil
}

func (*list) After(*workload.Request, time.Duration) (r workload.Request, ok bool) { return r, false }

func play(t testing.TB, r Replica, src workload.Source, o Options) *Result {
	t.Helper()
	out, err := Run(&Fleet{Replicas: []Replica{r}, Router: RoundRobin()}, src, o)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestAlone: a request alone takes its prompt's step and one for each further token.
func TestAlone(t *testing.T) {
	r := play(t, replica(), &list{{Prompt: 1000, Output: 3}}, Options{})
	prompt := time.Duration(1e9 * simple(speed.Batch{Prefill: 1000, Prompts: 1, Finished: 1}))
	token := time.Duration(1e9*simple(speed.Batch{Decodes: 1, Context: 992}) + 0.5)
	if got := r.First.Mean(); got != prompt {
		t.Errorf("first token after %v, a step with the prompt takes %v", got, prompt)
	}
	if got := r.PerToken.Mean(); got != token {
		t.Errorf("%v a token, a step takes %v", got, token)
	}
	if r.Finished != 1 || r.Generated != 3 || r.Steps != 3 {
		t.Errorf("%d finished, %d tokens in %d steps", r.Finished, r.Generated, r.Steps)
	}
}

// chat is the steady load of the figure that the package promises: prompts of about 1,000 tokens, answers of 250, some 200
// sequences at a time.
func chat(b testing.TB, requests int) workload.Source {
	s := workload.Spec{Arrivals: "poisson", Rate: 22, Prompt: workload.Law{Law: "lognormal", Mean: 1000, CV: 0.5},
		Output: workload.Law{Law: "lognormal", Mean: 250, CV: 0.5}, Seed: 1}
	s.Requests = plan.Int(requests)
	src, err := s.Source()
	if err != nil {
		b.Fatal(err)
	}
	return src
}

func BenchmarkSteady(b *testing.B) {
	const n = 100_000
	var r *Result
	for b.Loop() {
		r = play(b, replica(), chat(b, n), Options{})
	}
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "requests/s")
	b.ReportMetric(float64(r.Steps)/n, "steps/request")
	b.ReportMetric(float64(r.Generated)/float64(r.Steps), "tokens/step")
}
