package cli

import (
	"testing"

	"github.com/memwall/memwall"
)

// TestStandsFor: a file's name says its format where a model stands for it; weights that were given stay.
func TestStandsFor(t *testing.T) {
	for _, c := range []struct{ file, given, want string }{
		{"models/qwen3-30b-a3b-q4_k_m.gguf", "", "q4_k_m"}, {"Qwen3-32B-UD-Q4_K_XL.gguf", "", "ud-q4_k_xl"}, {"a.Q8_0.gguf", "", "q8_0"},
		{"a-q4_k_m.gguf", "q8_0", "q8_0"}, {"a.gguf", "", ""}, {".gguf", "", ""}, {"meta-llama/Llama-3.1-8B", "", ""}, {"x-q4_k_m", "", ""},
	} {
		r := &memwall.Request{Model: c.file}
		r.Weights = c.given
		notes := standsFor(r)
		if r.Weights != c.want || (len(notes) > 0) != (c.want != c.given) {
			t.Errorf("%s with weights %q: weights %q, notes %v; want %q", c.file, c.given, r.Weights, notes, c.want)
		}
	}
}
