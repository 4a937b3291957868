package catalog

import (
	"errors"
	"slices"
	"testing"
)

func TestEveryEntryBuilds(t *testing.T) {
	for _, e := range All() {
		s, err := e.Spec()
		if err != nil {
			t.Errorf("%s: %v", e.ID, err)
			continue
		}
		m := s.Model(e.ID)
		if m.Params() <= 0 {
			t.Errorf("%s has no parameters", e.ID)
		}
	}
}

func TestFind(t *testing.T) {
	for name, want := range map[string]string{
		"llama-3.1-8b": "llama-3.1-8b", "LLaMA 3 8B": "llama-3-8b", "Qwen2.5-7B-Instruct": "qwen2.5-7b",
		"meta-llama/Llama-3.1-70B": "llama-3.1-70b", "RedHatAI/Qwen3-14B-FP8-dynamic": "qwen3-14b", "Llama-3.1-8B-Instruct": "llama-3.1-8b",
		"unsloth/Llama-3.3-70B-Instruct-bnb-4bit": "llama-3.3-70b", "openai/gpt-oss-20b": "gpt-oss-20b", "Phi-4": "phi-4",
	} {
		e, err := Find(name)
		if err != nil {
			t.Errorf("Find(%q): %v", name, err)
			continue
		}
		if e.ID != want {
			t.Errorf("Find(%q) = %s, want %s", name, e.ID, want)
		}
	}
	if _, err := Find("lama-3.1-70b"); err == nil || err.(*NotFoundError).Candidates[0] != "llama-3.1-70b" {
		t.Errorf("a misspelt name gives %v", err)
	}
}

func BenchmarkFindExact(b *testing.B) {
	for b.Loop() {
		if _, err := Find("llama-3.1-70b"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFindLoose(b *testing.B) {
	for b.Loop() {
		if _, err := Find("LLaMA 3 8B"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFindNone is a name that is not there, with what was meant.
func BenchmarkFindNone(b *testing.B) {
	for b.Loop() {
		if _, err := Find("llama-3.1-70c-instrct"); err == nil {
			b.Fatal("found")
		}
	}
}

// TestBeginnings: a name that is short of a size is answered with those that begin with it.
func TestBeginnings(t *testing.T) {
	for name, want := range map[string]string{"gemm": "gemma-2b", "zamba": "zamba2-2.7b"} {
		_, err := Find(name)
		var e *NotFoundError
		if !errors.As(err, &e) || len(e.Candidates) > suggested || !slices.Contains(e.Candidates, want) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
