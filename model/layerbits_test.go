package model_test

import (
	"math"
	"testing"

	"github.com/memwall/memwall/dtype"
)

// TestLayerBits: two bytes a number in bf16, for every shape; recipes that quantise some layers' tensors alone leave
// what they leave, and embeddings do not count.
func TestLayerBits(t *testing.T) {
	for _, c := range []struct {
		id, recipe string
		want, off  float64
	}{
		{"llama-3.1-8b", "bf16", 16, 0}, {"deepseek-v3", "bf16", 16, 0}, {"nemotron-h-8b", "bf16", 16, 0}, {"qwen3-30b-a3b", "bf16", 16, 0},
		{"llama-3.1-8b", "mxfp4", 4.25, 0.001}, // no experts: all linear layers
		{"llama-3.1-8b", "awq", 4.156, 0.02},   // whose whole model has 5.7
		{"llama-3.1-8b", "q8_0", 8.5, 0.02}, {"gpt-oss-20b", "mxfp4", 4.7, 0.2},
	} {
		m := build(t, c.id)
		if got := m.LayerBits(m.Store(dtype.FindRecipe(c.recipe))); math.Abs(got-c.want) > c.off {
			t.Errorf("%s in %s: %.4f bits, want %.3f", c.id, c.recipe, got, c.want)
		}
	}
}
