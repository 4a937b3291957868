package coef_test

import (
	"math"
	"testing"

	"github.com/memwall/memwall/speed/coef"
)

// TestScatter of two numbers is their variance times pi/2 over 2 times two over one; of one there is none.
func TestScatter(t *testing.T) {
	if v, ok := coef.Scatter([]float64{1, 3}); !ok || math.Abs(v-math.Pi) > 1e-12 {
		t.Errorf("%g %v", v, ok)
	}
	if _, ok := coef.Scatter([]float64{1}); ok {
		t.Error("one number scatters")
	}
}
