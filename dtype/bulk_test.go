package dtype

import (
	"math"
	"testing"
)

// TestBulk: the matrices that a recipe is about, experts included, with their scales.
func TestBulk(t *testing.T) {
	for name, want := range map[string]float64{"bf16": 16, "q4_k_m": 4.5, "awq": 4 + 20./128, "mxfp4": 4.25, "nvfp4-mlp": 4.5,
		"int4-g32-experts": 4.5, "sparse-2:4": 9, "q2_k": 2.625} {
		if got := FindRecipe(name).BulkBits(); math.Abs(got-want) > 0.001 {
			t.Errorf("%s: %.4f bits, want %.4f", name, got, want)
		}
	}
	for _, r := range Recipes() {
		if b := r.BulkBits(); b < 1 || b > 64 {
			t.Errorf("%s has %g bits", r.Name, b)
		}
	}
}
