package source

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/format/gguf/gguftest"
	"github.com/memwall/memwall/format/safetensors/safetensorstest"
)

// refused asks for the error of a reference.
func refused(t *testing.T, f *Files, ref string) *memwall.Error {
	t.Helper()
	r, err := f.Model(ref)
	var e *memwall.Error
	if !errors.As(err, &e) {
		t.Fatalf("%s: gives %+v, %v", ref, r, err)
	}
	return e
}

// check compares an error with a code and words that the message or the hint must have.
func check(t *testing.T, e *memwall.Error, code string, has ...string) {
	t.Helper()
	if e.Code != code {
		t.Errorf("code %s, want %s: %s", e.Code, code, e.Message)
	}
	if e.Hint == "" {
		t.Errorf("no fix: %s", e.Message)
	}
	for _, w := range has {
		if !strings.Contains(e.Message+"\n"+e.Hint, w) {
			t.Errorf("lacks %q: %s (%s)", w, e.Message, e.Hint)
		}
	}
}

func TestCatalogReferences(t *testing.T) {
	for ref, want := range map[string]string{"llama-3.1-8b": "llama-3.1-8b", "meta-llama/Llama-3.1-70B": "llama-3.1-70b", "LLaMA 3 8B": "llama-3-8b"} {
		if r := resolve(t, ref); r.ID != want || r.Format != "catalog" {
			t.Errorf("%s is %s (%s)", ref, r.ID, r.Format)
		}
	}
	f := New(Options{})
	if _, err := f.Model("lama-3.1-8b"); err == nil || !strings.Contains(err.Error(), "no model called") {
		t.Errorf("a misspelt id: %v", err)
	}
	check(t, refused(t, f, "nobody/never-heard-of"), memwall.Remote, "config.json", "neither in the catalog nor")
	check(t, refused(t, f, "https://example.com/model.gguf"), memwall.Remote, "download")
	check(t, refused(t, f, "hf:meta-llama/Llama-3.1-8B"), memwall.Remote, "llama-3.1-8b")
	check(t, refused(t, f, "ollama:no-such-model"), memwall.Remote, "download")
}

// TestFolderBeforeCatalog: a folder of a model comes before a model of the catalog with its name, and any
// other folder does not.
func TestFolderBeforeCatalog(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("llama-3.1-8b", 0o700); err != nil {
		t.Fatal(err)
	}
	if r := resolve(t, "llama-3.1-8b"); r.Format != "catalog" {
		t.Errorf("an empty folder counts as a model: %+v", r)
	}
	text(t, "llama-3.1-8b/config.json", networks[0].config)
	if r := resolve(t, "llama-3.1-8b"); r.Format != "config" || r.ID != "llama-3.1-8b" {
		t.Errorf("the folder is passed over: %s %s", r.Format, r.ID)
	}
	if r := resolve(t, "./llama-3.1-8b/config.json"); r.ID != "llama-3.1-8b" || !strings.Contains(r.Provenance, "LlamaForCausalLM") {
		t.Errorf("%s, %s", r.ID, r.Provenance)
	}
	t.Chdir("llama-3.1-8b")
	if r := resolve(t, "."); r.ID != "llama-3.1-8b" {
		t.Errorf(". is %s", r.ID)
	}
}

func TestGGUFReferences(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "small-bf16.gguf"), networks[0].file().File())
	r := resolve(t, dir)
	if r.ID != "small-bf16" || r.Recipe != "gguf-bf16" || r.Provenance != "file small-bf16.gguf: 21 tensors, GGUF v3" {
		t.Errorf("%s, %s, %s", r.ID, r.Recipe, r.Provenance)
	}
	projector := gguftest.New("clip").Tensor("v.patch_embd.weight", dtype.F16, 4, 4, 3, 8)
	write(t, filepath.Join(dir, "mmproj-small.gguf"), projector.File())
	if r = resolve(t, dir); len(r.Notes) != 1 || !strings.Contains(r.Notes[0].Text, "--mmproj") {
		t.Errorf("a projector beside a model: %v", r.Notes)
	}
	f := New(Options{})
	check(t, refused(t, f, filepath.Join(dir, "mmproj-small.gguf")), memwall.Unsupported, "projector", "--mmproj")
	if _, err := f.Projector(filepath.Join(dir, "small-bf16.gguf")); err == nil || !strings.Contains(err.Error(), "no projector") {
		t.Errorf("a model as a projector: %v", err)
	}
	write(t, filepath.Join(dir, "other.gguf"), networks[1].file().File())
	check(t, refused(t, f, dir), memwall.UnknownModel, "2 models", "other.gguf", "small-bf16.gguf")
	lora := gguftest.New("llama").Set("general.type", gguftest.Str("adapter")).Tensor("blk.0.attn_q.weight.lora_a", dtype.F32, 64, 8)
	write(t, filepath.Join(dir, "lora.gguf"), lora.File())
	check(t, refused(t, f, filepath.Join(dir, "lora.gguf")), memwall.Unsupported, "adapter", "base model")
	write(t, filepath.Join(dir, "vocab.gguf"), gguftest.New("llama").Set("general.type", gguftest.Str("vocab")).File())
	check(t, refused(t, f, filepath.Join(dir, "vocab.gguf")), memwall.Unsupported, "no model")
}

// splitGGUF writes the tensors of a network into several files.
func splitGGUF(t *testing.T, dir string, n *network, count int) []string {
	t.Helper()
	all := tensorLines(n.gguf)
	var names []string
	for i := range count {
		b := gguftest.New(n.arch)
		if i > 0 {
			b = &gguftest.Builder{}
		} else {
			for key, v := range n.meta {
				b.Set(n.arch+"."+key, v)
			}
		}
		b.Set("split.no", gguftest.U16(i)).Set("split.count", gguftest.U16(count)).Set("split.tensors.count", gguftest.I32(len(all)))
		for j, x := range all {
			if j%count == i {
				b.Tensor(x.name, dtype.F32, reversed(x.shape)...)
			}
		}
		name := filepath.Join(dir, strings.Replace("small-0000N-of-00003.gguf", "N", string(rune('1'+i)), 1))
		write(t, name, b.File())
		names = append(names, name)
	}
	return names
}

func TestSplitGGUF(t *testing.T) {
	dir := t.TempDir()
	names := splitGGUF(t, dir, &networks[0], 3)
	for _, ref := range append(names, dir) {
		r := resolve(t, ref)
		if r.ID != "small" || r.Weights.Bytes() != sumOf(networks[0].gguf, 4) || !strings.Contains(r.Provenance, "2 more files: 21 tensors") {
			t.Errorf("%s: %s, %d bytes, %s", ref, r.ID, r.Weights.Bytes(), r.Provenance)
		}
	}
	f := New(Options{})
	if err := os.Remove(names[1]); err != nil {
		t.Fatal(err)
	}
	check(t, refused(t, f, names[0]), memwall.BadFile, "of 3 files these are missing: small-00002-of-00003.gguf")
	if err := os.Link(names[0], names[1]); err != nil {
		t.Fatal(err)
	}
	check(t, refused(t, f, names[2]), memwall.BadFile, "expected file 2 of 3")
	alone := filepath.Join(t.TempDir(), "renamed.gguf")
	if err := os.Link(names[0], alone); err != nil {
		t.Fatal(err)
	}
	check(t, refused(t, f, alone), memwall.BadFile, "1 given of a model in 3 files")
}

// TestRefusals: what is never read, and why.
func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	f := New(Options{})
	for _, name := range []string{"pytorch_model.bin", "model.pt", "model.PTH", "model.ckpt", "pytorch_model.bin.index.json"} {
		text(t, filepath.Join(dir, name), "PK\x03\x04")
		check(t, refused(t, f, filepath.Join(dir, name)), memwall.Unsupported, "unpickling", "safetensors")
	}
	check(t, refused(t, f, dir), memwall.Unsupported, "unpickling")
	text(t, filepath.Join(dir, "weights"), "\x80\x02}q\x00")
	check(t, refused(t, f, filepath.Join(dir, "weights")), memwall.Unsupported, "unpickling")
	text(t, filepath.Join(dir, "page"), "<html>")
	check(t, refused(t, f, filepath.Join(dir, "page")), memwall.BadFile, "web page")
	check(t, refused(t, f, filepath.Join(dir, "absent.gguf")), memwall.UnknownModel, "no file or folder", "absent.gguf")
	check(t, refused(t, f, "./"+strings.Repeat("x", 5000)), memwall.BadFile, "too long")
	check(t, refused(t, f, "a\x00b.gguf"), memwall.UnknownModel, "no file or folder")
	check(t, refused(t, f, t.TempDir()), memwall.UnknownModel, "holds no GGUF")
}

// TestAdapters: PEFT's folders and files are told from models.
func TestAdapters(t *testing.T) {
	dir := t.TempDir()
	f := New(Options{})
	b := &safetensorstest.Builder{}
	b.Tensor("base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight", "F32", 32, 8, 64)
	b.Tensor("base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight", "F32", 32, 64, 8)
	write(t, filepath.Join(dir, "adapter_model.safetensors"), b.File())
	check(t, refused(t, f, filepath.Join(dir, "adapter_model.safetensors")), memwall.Unsupported, "LoRA adapter")
	text(t, filepath.Join(dir, "adapter_config.json"), `{"base_model_name_or_path":"meta-llama/Llama-3.1-8B","peft_type":"LORA"}`)
	for _, ref := range []string{dir, filepath.Join(dir, "adapter_config.json")} {
		check(t, refused(t, f, ref), memwall.Unsupported, "LoRA adapter", "meta-llama/Llama-3.1-8B")
	}
}

// TestRoot: below a root, what lies outside and what does not exist give the same error.
func TestRoot(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	text(t, filepath.Join(root, "config.json"), networks[0].config)
	text(t, filepath.Join(outside, "config.json"), networks[0].config)
	if err := os.Symlink(outside, filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	text(t, filepath.Join(root, "unreadable.json"), "{}")
	f := New(Options{Root: root})
	for _, ref := range []string{"config.json", "./config.json", filepath.Join(root, "config.json"), root, ".", "x/../config.json"} {
		if _, err := f.Model(ref); err != nil {
			t.Errorf("%s: %v", ref, err)
		}
	}
	missing := refused(t, f, "./absent.json")
	for _, ref := range []string{filepath.Join(outside, "config.json"), "../" + filepath.Base(outside) + "/config.json", "link/config.json", "./link", "/etc/passwd", "/etc/passwd.json", "~/x.json", "/dev/zero"} {
		e := refused(t, f, ref)
		same := strings.ReplaceAll(e.Message, home(ref), "X") == strings.ReplaceAll(missing.Message, "./absent.json", "X")
		if e.Code != missing.Code || e.Hint != missing.Hint || !same {
			t.Errorf("%s: %+v, and a missing file gives %+v", ref, e, missing)
		}
	}
	gone := New(Options{Root: filepath.Join(root, "gone")})
	check(t, refused(t, gone, "./config.json"), memwall.UnknownModel, "no file or folder")
}
