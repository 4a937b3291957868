package source_test

import (
	"testing"

	"github.com/memwall/memwall/source"
)

// TestOllamaNames: tags name size and format; without one the library's own.
func TestOllamaNames(t *testing.T) {
	for _, c := range []struct{ ref, id, recipe string }{
		{"ollama:llama3.1:8b", "llama-3.1-8b", "q4_k_m"}, {"ollama:llama3.3:70b-instruct-q8_0", "llama-3.3-70b", "q8_0"}, {"ollama:qwen3:30b-a3b", "qwen3-30b-a3b", "q4_k_m"},
		{"ollama:gpt-oss:20b", "gpt-oss-20b", "mxfp4_moe"}, {"ollama:gemma3:27b-it-fp16", "gemma-3-27b", "f16"},
	} {
		r, err := source.New(source.Options{}).Model(c.ref)
		if err != nil {
			t.Errorf("%s: %v", c.ref, err)
			continue
		}
		if r.ID != c.id || r.Asked != c.recipe || len(r.Notes) == 0 {
			t.Errorf("%s is %s in %s, notes %v; want %s in %s", c.ref, r.ID, r.Asked, r.Notes, c.id, c.recipe)
		}
	}
	if _, err := source.New(source.Options{}).Model("ollama:no-such-model"); err == nil {
		t.Error("an unknown name was resolved")
	}
}
