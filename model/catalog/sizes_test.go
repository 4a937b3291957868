package catalog

import (
	"math"
	"testing"
)

// TestStatedSizes: models whose rows are of this year hold as many parameters as their makers and vllm-project/recipes@8959cf64
// state, to the last digit that those have; MiniCPM-V 4.5 as its index does (PcOffeeP/FineTune_MLLM@673b2a5ab636).
func TestStatedSizes(t *testing.T) {
	for id, want := range map[string]struct{ billions, digit float64 }{
		"hy3": {295, 1}, "laguna-xs.2": {33, 1}, "laguna-s-2.1": {118, 1}, "mellum2-12b-a2.5b": {12, 1}, "gemma-4-12b": {11.95, 0.02}, "trinity-large-400b": {398, 1},
		"trinity-mini-26b": {26, 1}, "kimi-k3": {2800, 100}, "glm-ocr": {0.9, 0.1}, "glm-4.5v": {108, 1}, "glm-4.1v-9b": {10.3, 0.1}, "falcon-h1-0.5b": {0.521, 0.001}, "falcon-h1-7b": {7.59, 0.01},
		"falcon-h1-34b": {33.6, 0.1}, "wan2.2-t2v-a14b": {28.6, 0.1}, "wan2.2-ti2v-5b": {5, 0.1}, "e5-mistral-7b": {7.11, 0.01}, "qwen3-omni-30b-a3b": {31.7, 0.1}, "jamba-large-1.7": {398, 1},
		"phi-3-medium-128k": {14, 0.1}, "falcon3-10b": {10.3, 0.1}, "deepseek-llm-67b": {67.4, 0.1}, "granite-3.1-3b-a800m": {3.3, 0.1}, "qwen2-vl-72b": {73.4, 0.1}, "minicpm-v-4.5": {8.69589528, 1e-9},
		"ling-3.0-flash": {124.4, 0.05}, "ling-3.0-tiny": {8, 0.2}, "minicpm-v-4.6": {1.3, 0.05}, "lfm2.5-230m": {0.23, 0.005},
		"lfm2.5-vl-450m": {0.45, 0.005}, "mimo-v2.5": {310, 2},
		"k2-horizon-7b": {8.99917824, 1e-9}, "granite-4.1-8b": {8.4, 0.1},
	} {
		m, err := Model(id)
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		if got := float64(m.Params()) / 1e9; math.Abs(got-want.billions) > want.digit {
			t.Errorf("%s has %.3f billion parameters, want %g", id, got, want.billions)
		}
	}
}
