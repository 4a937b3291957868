package llamacpp

import (
	"math"
	"testing"

	"github.com/memwall/memwall/engine"
)

// TestBuilt: builds that no date was given for lie within weeks of the day of their tag.
func TestBuilt(t *testing.T) {
	for _, x := range []struct {
		build        int
		years, weeks float64
	}{{1500, 2023.86, 6}, {4409, 2025.0, 6}, {7077, 2025.87, 3}, {7223, 2025.92, 3}, {7571, 2025.99, 3}, {7946, 2026.09, 3}} {
		if got := (Engine{}).Built(build(x.build)); math.Abs(got-x.years) > x.weeks/52 {
			t.Errorf("b%d is of %.2f, tagged %.2f", x.build, got, x.years)
		}
	}
	if got := (Engine{}).Built(engine.V(0, 5, 0)); got != 0 {
		t.Errorf("v0.5.0 is of %v", got)
	}
	if got := (Engine{Program: Ollama}).Built(engine.V(0, 11, 5)); got < 2025.5 || got > 2025.75 {
		t.Errorf("Ollama 0.11.5, of August 2025, is of %.2f", got)
	}
}
