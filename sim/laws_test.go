package sim

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/workload"
)

// mixed is a random load of single requests at a rate.
func mixed(t *testing.T, r *rand.Rand, rate float64) func() workload.Source {
	s := workload.Spec{Arrivals: "poisson", Rate: rate, Requests: plan.Int(800), Seed: plan.Int(r.Int64N(1 << 40)),
		Prompt: workload.Law{Law: "lognormal", Mean: 200 + 1500*r.Float64(), CV: r.Float64()},
		Output: workload.Law{Law: "lognormal", Mean: 50 + 300*r.Float64(), CV: r.Float64()}}
	return func() workload.Source {
		src, err := s.Source()
		if err != nil {
			t.Fatal(err)
		}
		return src
	}
}

func alike(n int) []Replica { return slices.Repeat([]Replica{replica()}, n) }

func played(t *testing.T, f *Fleet, src workload.Source) *Result {
	t.Helper()
	res, err := Run(f, src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// TestOneReplicaMore never lowers capacity: of a load beyond what either holds, more replicas are done no later and generate no less, but for
// the last requests of a run, which differ by who was served last.
func TestOneReplicaMore(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 12 {
		load, n := mixed(t, r, 400), 1+r.IntN(4)
		few := played(t, &Fleet{Replicas: alike(n), Router: LeastLoaded()}, load())
		more := played(t, &Fleet{Replicas: alike(n + 1), Router: LeastLoaded()}, load())
		if more.Finished != few.Finished || more.Generated != few.Generated {
			t.Errorf("%d replicas finish %d with %d tokens, one more %d with %d", n, few.Finished, few.Generated, more.Finished, more.Generated)
		}
		if more.End > few.End+few.End/100 {
			t.Errorf("%d replicas are done at %v, one more at %v", n, few.End, more.End)
		}
	}
}

// TestFreeHandover conserves work: with links that take no time and pools as large as the servers that they replace, the same requests end with
// the same tokens, each prompt is computed once, and nobody's first token comes before its prompt could be computed alone.
func TestFreeHandover(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for range 12 {
		load, n := mixed(t, r, 5+20*r.Float64()), 1+r.IntN(3)
		both := played(t, &Fleet{Replicas: alike(n), Router: LeastLoaded()}, load())
		f := &Fleet{Replicas: alike(n), Prefills: alike(n), Router: LeastLoaded()}
		for i := range f.Replicas {
			f.Replicas[i].Handover = func(int64) float64 { return 0 }
		}
		apart := played(t, f, load())
		if apart.Finished != both.Finished || apart.Generated != both.Generated || apart.Prompt != both.Prompt {
			t.Errorf("apart %d requests, %d tokens of prompts, %d of answers; together %d, %d, %d", apart.Finished, apart.Prompt, apart.Generated,
				both.Finished, both.Prompt, both.Generated)
		}
		if apart.PerToken.Mean() > both.PerToken.Mean()+time.Millisecond {
			t.Errorf("a token takes %v apart, where no prompt is in its step, and %v together", apart.PerToken.Mean(), both.PerToken.Mean())
		}
	}
}

// TestMixedChunk: who decodes no longer stands still while prompts are computed (--enable-mixed-chunk of SGLang), for which prompts wait
// a little longer. The same requests end with the same tokens.
func TestMixedChunk(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for range 6 {
		load := mixed(t, r, 10+10*r.Float64())
		apart, along := alike(1), alike(1)
		apart[0].Policy, apart[0].Budget, along[0].Policy, along[0].Budget = PromptsFirst, 2048, PromptsFirst, 2048
		along[0].Mixed = true
		a, b := played(t, &Fleet{Replicas: apart, Router: LeastLoaded()}, load()), played(t, &Fleet{Replicas: along, Router: LeastLoaded()}, load())
		if a.Finished != b.Finished || a.Generated != b.Generated || a.Prompt != b.Prompt {
			t.Errorf("apart %d requests, %d tokens of answers; along %d, %d", a.Finished, a.Generated, b.Finished, b.Generated)
		}
		if x, y := a.Gap.Quantile(0.999), b.Gap.Quantile(0.999); y >= x {
			t.Errorf("the longest gaps are %v along with prompts, %v beside them", y, x)
		}
	}
}

// TestLittle: as many wait on average as arrive in the time that one waits, also for the rest of a step that began without him.
func TestLittle(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for n := range 8 {
		res := played(t, &Fleet{Replicas: alike(1 + n%3), Router: LeastLoaded()}, mixed(t, r, 4+8*r.Float64())())
		waited := 0.0
		for i := range res.Series.Points {
			waited += res.Series.Points[i].Waiting * res.Series.Width.Seconds()
		}
		want := res.Wait.Mean().Seconds() * float64(res.Wait.N())
		if res.Preemptions == 0 && (waited < 0.99*want || waited > 1.01*want) {
			t.Errorf("run %d: requests waited for %.3f s in all, and the series has %.3f", n, want, waited)
		}
	}
}
