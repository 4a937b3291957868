package cause

import (
	"testing"

	"github.com/memwall/memwall/diagnose"
)

// TestRemedies: every row is reached by a failure of its kind, program and place, and says what to do.
func TestRemedies(t *testing.T) {
	for i := range remedies() {
		r := &remedies()[i]
		if len(r.now)+len(r.later) == 0 {
			t.Errorf("%v says nothing", r)
		}
		f := diagnose.Finding{Kind: r.kind, Place: r.place}
		if len(r.engines) > 0 {
			f.Engine = r.engines[0]
		}
		if f.Engine == onMac {
			f.Engine, f.Backend = "pytorch", onMac
		}
		if got := findRemedy(&f, f.Engine == trainer); got != r {
			t.Errorf("%v is taken by %v", r, got)
		}
	}
}
