package sim

import (
	"slices"
	"testing"
	"time"

	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/workload"
)

// TestCounted: whatever goes first, and however many there are, the times are those of all requests but the first, of which no more
// than a quarter is left out.
func TestCounted(t *testing.T) {
	for _, requests := range []int{1, 3, 4, 7, 100, 400} {
		for _, settle := range []int64{0, 1, 20, 100, 1000} {
			spec := workload.Spec{Arrivals: "closed", Concurrency: 16, Requests: plan.Int(requests), Seed: 3,
				Prompt: workload.Law{Law: "exponential", Mean: 200, Min: 1}, Output: workload.Law{Law: "exponential", Mean: 30, Min: 1}}
			src, err := spec.Source()
			if err != nil {
				t.Fatal(err)
			}
			server := Replica{Policy: Inflight, Paging: Paging{Blocks: 10_000, BlockTokens: 16, Full: 1}, MaxSequences: 8, Budget: 512,
				Timer: func(b speed.Batch) float64 { return 0.001 * float64(1+b.Prefill) }}
			var first []time.Duration
			left := min(settle, int64(requests)/4)
			res, err := Run(&Fleet{Replicas: []Replica{server}, Router: RoundRobin()}, src, Options{Settle: settle, Each: func(d *Done) {
				if d.ID >= left {
					first = append(first, d.First-d.Arrival)
				}
			}})
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(first)
			if n := int64(requests) - left; res.Settled != left || res.First.N() != n || res.Whole.N() != n || res.Wait.N() != n ||
				res.Good != n {
				t.Errorf("%d requests, %d first: %d left out, %d, %d, %d counted", requests, settle, res.Settled, res.First.N(),
					res.Whole.N(), res.Good)
			}
			half := (first[(len(first)-1)/2] + first[len(first)/2]) / 2
			if got := res.First.Quantile(0.5); (got - half).Abs() > half/100 { // many are sketched, to a percent
				t.Errorf("%d requests, %d first: half have a token after %s, by hand %s", requests, settle, got, half)
			}
		}
	}
}
