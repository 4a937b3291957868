package catalog

import "testing"

// TestShaped: what llama-bench prints of a model finds the entry of that shape, or none. The parameters are those of its tables
// (ggml-org/llama.cpp discussions 4167 and 10879; kyuz0/amd-strix-halo-toolboxes).
func TestShaped(t *testing.T) {
	for _, c := range []struct {
		family   string
		billions float64
		want     string
	}{
		{"llama", 6.74, "llama-7b"}, {"qwen3moe", 30.53, "qwen3-30b-a3b"}, {"gpt-oss", 20.91, "gpt-oss-20b"}, {"gemma4", 25.23, "gemma-4-26b-a4b"},
		{"minimax-m2", 228.69, "minimax-m2"}, {"qwen35moe", 34.66, "qwen3.5-35b-a3b"}, {"llama", 30.53, ""}, {"none", 8, ""}, {"llama", 0, ""},
	} {
		if got := Shaped(c.family, int64(c.billions*1e9)); got != c.want {
			t.Errorf("%s of %v B: %q, want %q", c.family, c.billions, got, c.want)
		}
	}
}
