package validation

import (
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/plan"
)

// TestOtherWorker: where one of several workers prints, its memory does not say what the pool holds, whether the
// two agree or not.
func TestOtherWorker(t *testing.T) {
	for _, c := range []struct {
		what, engine string
		tp           int64
		unfit        bool
	}{
		{"two workers", "vllm@0.11.2", 2, true},
		{"one worker", "vllm@0.11.2", 1, false},
		{"every worker prints", "vllm@0.10.2", 2, false},
		{"no version", "vllm", 2, false},
	} {
		row := &Row{Ask: memwall.Request{Plan: plan.Plan{Engine: c.engine, TP: c.tp}}}
		if got := otherWorker(&Comparison{Row: row}); (got != "") != c.unfit {
			t.Errorf("%s: %q", c.what, got)
		}
	}
}
