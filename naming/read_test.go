package naming

import (
	"strings"
	"testing"
)

// TestRead: what a text says by itself, of repositories, files, paths, addresses and Ollama's names.
func TestRead(t *testing.T) {
	for _, c := range []struct {
		text string
		want Name
	}{
		{"Qwen/Qwen3-32B-AWQ", Name{Repo: "Qwen/Qwen3-32B-AWQ", Org: "qwen", Base: "qwen3-32b", Format: "awq"}},
		{"Qwen/Qwen3-32B", Name{Repo: "Qwen/Qwen3-32B", Org: "qwen", Base: "Qwen3-32B"}},
		{"Qwen/Qwen3-32B@main", Name{Repo: "Qwen/Qwen3-32B", Org: "qwen", Base: "Qwen3-32B"}},
		{"unsloth/Qwen3-32B-GGUF:UD-Q4_K_XL", Name{Repo: "unsloth/Qwen3-32B-GGUF", Org: "unsloth", Base: "qwen3-32b", Format: "ud-q4_k_xl", GGUF: true, Tag: "UD-Q4_K_XL"}},
		{"mlx-community/gemma-3-27b-it-6bit", Name{Repo: "mlx-community/gemma-3-27b-it-6bit", Org: "mlx-community", Base: "gemma-3-27b-it", Format: "mlx-6bit"}},
		{"/models/llama-2-7b.Q4_0.gguf", Name{Base: "llama-2-7b", Format: "q4_0", GGUF: true, File: "llama-2-7b.Q4_0.gguf", Path: true}},
		{`C:\m\Qwen3-14B-Q5_K_M-00001-of-00002.gguf`, Name{Base: "qwen3-14b", Format: "q5_k_m", GGUF: true, File: "Qwen3-14B-Q5_K_M-00001-of-00002.gguf", Path: true}},
		{"/x/models--Qwen--Qwen3-8B/snapshots/0123456789", Name{Repo: "Qwen/Qwen3-8B", Org: "qwen", Base: "Qwen3-8B", Path: true}},
		{"/data/Qwen3-8B/model.safetensors", Name{Base: "Qwen3-8B", File: "model.safetensors", Path: true}},
		{"https://huggingface.co/a/B-GGUF/blob/main/B-Q8_0.gguf", Name{Repo: "a/B-GGUF", Org: "a", Base: "b", Format: "q8_0", GGUF: true, File: "B-Q8_0.gguf"}},
		{"ollama run qwen3:32b --verbose", Name{Base: "qwen3", Tag: "32b", Ollama: true, GGUF: true}},
		{"ollama run hf.co/a/B-GGUF:Q8_0", Name{Repo: "a/B-GGUF", Org: "a", Base: "b", Format: "q8_0", GGUF: true, Ollama: true, Tag: "Q8_0"}},
		{"google/gemma-3-27b@q4_k_m", Name{Repo: "google/gemma-3-27b", Org: "google", Base: "gemma-3-27b", Format: "q4_k_m", GGUF: true, Tag: "q4_k_m"}},
		{"a/Qwen3-32B-exl2_6.0bpw", Name{Repo: "a/Qwen3-32B-exl2_6.0bpw", Org: "a", Base: "qwen3-32b", Format: "exl2-6.0bpw"}},
		{"a/GLM-4.6-MLX-6.5bit", Name{Repo: "a/GLM-4.6-MLX-6.5bit", Org: "a", Base: "glm-4.6", Format: "mlx-6bit"}},
		{"a/B-AQLM-2Bit", Name{Repo: "a/B-AQLM-2Bit", Org: "a", Base: "b", Lacks: "aqlm"}},
		{"models/ggml-model-q4_0.gguf", Name{File: "ggml-model-q4_0.gguf", Path: true}},
		{"a\nb", Name{}}, {"", Name{}}, {strings.Repeat("a", maxText+1), Name{}},
	} {
		got := Read(c.text)
		got.Text, got.Loose, got.stored = "", "", ""
		if got != c.want {
			t.Errorf("%q:\n got  %+v\n want %+v", c.text, got, c.want)
		}
	}
}

// TestTheRowsAreReadable: each row of formats.tsv names a recipe, and none stands behind one that holds wherever it does.
func TestTheRowsAreReadable(t *testing.T) {
	for _, r := range rows() {
		if len(r.words) == 0 {
			t.Errorf("%+v names nothing", r)
		}
		for _, w := range r.words {
			if w != strings.ToLower(w) {
				t.Errorf("%q is compared in lower case", w)
			}
		}
	}
	if len(rows()) < 80 {
		t.Errorf("%d rows", len(rows()))
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"a/b:c@d", "models--a--b/snapshots/", "ollama run ", "....", "/", "C:\\", "q4_k_m.gguf", "4 bit", "https://hf.co/a", "_-_:", "x-UD-.gguf", "ud-q4_k_xl_"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n := Read(text)
		if len(n.Base)+len(n.Org)+len(n.File) > 4*len(text)+16 {
			t.Fatalf("more words than text: %+v", n)
		}
	})
}
