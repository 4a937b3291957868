package serve

import (
	"context"
	"testing"
)

// TestPromising: with enough fleets, only contenders that may be better are simulated, wherever they stand among those of other
// kinds of hardware.
func TestPromising(t *testing.T) {
	costing := func(dollars float64) objective { return objective{by: [4]float64{dollars}} }
	p := &playing{&servers{task: &task{ctx: context.Background()}}}
	queue := func() []*contender {
		return []*contender{{steadyState: steadyState{objective: objective{unpriced: true}}}, {steadyState: steadyState{objective: costing(7)}},
			{steadyState: steadyState{objective: costing(3)}}}
	}
	if got := p.promising(queue()); len(got) != 3 {
		t.Errorf("%d of 3 are tried while nothing holds", len(got))
	}
	for range enoughFleets {
		p.all = append(p.all, &contender{fleet: &fleetPlan{objective: costing(5)}})
	}
	if got := p.promising(queue()); len(got) != 1 || got[0].objective.by[0] != 3 {
		t.Errorf("%d contenders promise better than six fleets at 5 dollars", len(got))
	}
}
