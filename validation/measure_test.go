package validation

import (
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/plan"
)

// TestOtherWorker: only a pool that is a little smaller than the first of several workers could hold shows
// nothing; every other miss counts.
func TestOtherWorker(t *testing.T) {
	for _, c := range []struct {
		what, engine string
		tp           int64
		equal        bool
		err          float64
		unfit        bool
	}{
		{"two workers, 0.2 % less", "vllm@0.11.2", 2, false, 0.002, true},
		{"two workers, equal", "vllm@0.11.2", 2, true, 0.0001, false},
		{"two workers, more than the memory holds", "vllm@0.11.2", 2, false, -0.002, false},
		{"two workers, half", "vllm@0.11.2", 2, false, 1, false},
		{"one worker", "vllm@0.11.2", 1, false, 0.002, false},
		{"every worker prints", "vllm@0.10.2", 2, false, 0.002, false},
		{"no version", "vllm", 2, false, 0.002, false},
	} {
		row := &Row{Ask: memwall.Request{Plan: plan.Plan{Engine: c.engine, TP: c.tp}}}
		if got := otherWorker(&Comparison{Row: row, Equal: c.equal, Error: c.err}); (got != "") != c.unfit {
			t.Errorf("%s: %q", c.what, got)
		}
	}
}
