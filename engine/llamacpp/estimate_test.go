package llamacpp

import (
	"slices"
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/enginetest"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/plan"
)

// TestEstimateAgainstReplays: over the catalog's models whose graphs are known, on a processor and on a
// device, nine tenths of the replays lie within the band of the estimate.
func TestEstimateAgainstReplays(t *testing.T) {
	var ratios []float64
	inside := 0
	for _, id := range catalog.IDs() {
		for _, on := range []string{"cpu", "h100"} {
			for _, context := range []plan.Int{2048, 8192} {
				j := enginetest.Case{Model: id, Hardware: on, Version: engine.V(0, 5, 0), Plan: plan.Plan{Context: context, Sequences: 1, Weights: "q4_k_m"}}.Job(t)
				Engine{}.Defaults(j)
				z, err := Engine{}.Sizer(j)
				if err != nil {
					t.Fatalf("%s: %v", id, err)
				}
				s := z.(*sizer)
				if s.graph.err != nil {
					continue
				}
				sh := s.set.shape(&s.rules, j.Load())
				sh.compute = s.graph.buffers(&sh)
				r := float64(sh.compute.run[0]) / s.graph.estimate(nil, 0, &sh).V
				ratios = append(ratios, r)
				if r >= noGraph.low && r <= noGraph.high {
					inside++
				}
			}
		}
	}
	slices.Sort(ratios)
	n := len(ratios)
	t.Logf("%d ratios: %.2f, 5 %% %.2f, median %.2f, 95 %% %.2f, %.2f; %d inside", n, ratios[0], ratios[n/20], ratios[n/2], ratios[n*19/20], ratios[n-1], inside)
	if 10*inside < 9*n || n < 400 {
		t.Errorf("%d of %d replays lie in the band", inside, n)
	}
}
