package sim

import (
	"testing"
	"time"

	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/workload"
)

// TestGroupsStepApart: a group does not wait for another. Of two pools, the one that computes prompts takes long steps, and those that
// decode take as long as if it were not grouped; two groups of one server each are two servers.
func TestGroupsStepApart(t *testing.T) {
	timer := func(each float64) func(speed.Batch) float64 {
		return func(b speed.Batch) float64 { return each * float64(1+b.Prefill) }
	}
	server := func(each float64, group int) Replica {
		return Replica{Policy: Inflight, Paging: Paging{Blocks: 10_000, BlockTokens: 16, Full: 1}, MaxSequences: 64, Budget: 512,
			MaxLength: 4096, Timer: timer(each), Group: group}
	}
	play := func(replicas, prefills []Replica) *Result {
		src, err := workload.Spec{Arrivals: "poisson", Rate: 2, Requests: 300, Seed: 1, Prompt: workload.Law{Law: "fixed", Mean: 200},
			Output: workload.Law{Law: "fixed", Mean: 50}}.Source()
		if err != nil {
			t.Fatal(err)
		}
		res, err := Run(&Fleet{Router: RoundRobin(), Replicas: replicas, Prefills: prefills}, src, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	same := func(what string, a, b *Result) {
		if a.End != b.End || a.PerToken.Mean() != b.PerToken.Mean() || a.First.Mean() != b.First.Mean() {
			t.Errorf("%s: %s a token and %s to the first, alone %s and %s", what, a.PerToken.Mean(), a.First.Mean(), b.PerToken.Mean(),
				b.First.Mean())
		}
	}
	one, slow := []Replica{server(0.01, 0)}, []Replica{server(0.001, 0)}
	same("two pools", play([]Replica{server(0.01, 1)}, []Replica{server(0.001, 2)}), play(one, slow))
	same("two replicas", play([]Replica{server(0.01, 1), server(0.01, 2)}, nil), play([]Replica{server(0.01, 0), server(0.01, 0)}, nil))
	grouped, apart := play([]Replica{server(0.01, 1), server(0.01, 1)}, nil), play([]Replica{server(0.01, 1), server(0.01, 2)}, nil)
	if grouped.PerToken.Mean() < apart.PerToken.Mean()+time.Microsecond {
		t.Errorf("one group takes %s a token, two %s: who shares experts waits", grouped.PerToken.Mean(), apart.PerToken.Mean())
	}
}
