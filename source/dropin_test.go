package source

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memwall/memwall"
)

// TestFamilyFile: an architecture that nobody knows is read by a file that is for it; a faulty file is named, and one for others changes
// nothing.
func TestFamilyFile(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("m/config.json", `{"architectures":["FooForCausalLM"],"model_type":"foo","dim":4096,"ffn":14336,"blocks":32,"vocab_size":128256,"dtype":"bfloat16"}`)
	files := New(Options{Families: FamiliesIn(filepath.Join(dir, "families"))})
	ask := func() (*Resolved, error) { return files.Model(filepath.Join(dir, "m", "config.json")) }
	if _, err := ask(); err == nil || memwall.AsError(err).Code != memwall.Unsupported {
		t.Fatalf("without a file: %v", err)
	}
	put("families/bar.yaml", "architectures: [BarForCausalLM]\nlike: LlamaForCausalLM\n")
	put("families/foo.yaml", "architectures: [FooForCausalLM]\nlike: LlamaForCausalLM\nfields:\n  hidden_size: config.dim\n  intermediate_size: config.ffn\n"+
		"  num_hidden_layers: config.blocks\n  num_attention_heads: config.dim / 128\n  num_key_value_heads: 8\n")
	r, err := ask()
	if err != nil {
		t.Fatal(err)
	}
	if n := r.Model.Params(); n != 8030261248 { // those of Llama 3.1 8B, whose shapes these are
		t.Errorf("%d parameters", n)
	}
	if len(r.Notes) == 0 || !strings.Contains(r.Notes[0].Text, "foo.yaml reads it as LlamaForCausalLM") {
		t.Errorf("%+v", r.Notes)
	}
	put("families/foo.yaml", "architectures: [FooForCausalLM]\nlike: LlamaForCausalLM\nfields:\n  hidden_size: config.dimension\n")
	if _, err := ask(); err == nil || !strings.Contains(err.Error(), "foo.yaml: line 4: hidden_size") {
		t.Errorf("%v", err)
	}
	put("families/foo.yaml", "architectures: [FooForCausalLM]\nlike: NobodysForCausalLM\n")
	if _, err := ask(); err == nil {
		t.Error("a class that nobody knows reads a config")
	}
}
