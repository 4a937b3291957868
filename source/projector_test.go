package source

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/format/gguf/gguftest"
)

// TestProjector: what a header says, and numbers that cannot be.
func TestProjector(t *testing.T) {
	b := gguftest.New("clip").Set("general.type", gguftest.Str("mmproj")).Set("clip.projector_type", gguftest.Str("qwen3vl_merger"))
	for key, n := range map[string]uint32{"embedding_length": 1152, "attention.head_count": 16, "image_size": 768, "patch_size": 16, "spatial_merge_size": 2, "projection_dim": 1 << 31} {
		b.Set("clip.vision."+key, gguftest.U32(n))
	}
	b.Tensor("v.patch_embd.weight", dtype.F16, 16, 16, 3, 8).Tensor("v.deepstack.8.fc1.weight", dtype.F16, 32, 32)
	name := filepath.Join(t.TempDir(), "mmproj.gguf")
	write(t, name, b.File())
	got, err := New(Options{}).Projector(name)
	want := &engine.Projector{Kind: "qwen3vl_merger", Bytes: 2*16*16*3*8 + 2*32*32, Hidden: 1152, Heads: 16, Image: 768, Patch: 16, Merge: 2, Deep: 1}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
}

// TestBeside: the file that --mmproj names is counted as it is; one that is not here is sized from the published model, with a note.
func TestBeside(t *testing.T) {
	name := filepath.Join(t.TempDir(), "mmproj.gguf")
	write(t, name, gguftest.New("clip").Tensor("v.patch_embd.weight", dtype.F16, 16, 16, 3, 8).File())
	ask := func(file string) (*memwall.Answer, error) {
		r := memwall.Request{Ask: "fit", Model: "gemma-3-4b", Hardware: "rtx-4090"}
		r.Engine, r.Weights, r.MMProj = "llama.cpp", "q4_k_m", file
		return (&memwall.Asker{Models: New(Options{})}).Ask(&r)
	}
	a, err := ask(name)
	if err != nil || item(a, "mmproj.weights") != 2*16*16*3*8 || noted(a.Notes, "projector_unread") {
		t.Errorf("%v", err)
	}
	if a, err = ask("nowhere.gguf"); err != nil || item(a, "mmproj.weights") < 1<<28 || !noted(a.Notes, "projector_unread") {
		t.Errorf("a file that is not here: %v", err)
	}
	broken := filepath.Join(t.TempDir(), "broken.gguf")
	text(t, broken, "GGUF nothing")
	if _, err = ask(broken); err == nil {
		t.Fatal("a broken file was read")
	}
	if e, ok := errors.AsType[*memwall.Error](err); !ok || e.Code != memwall.BadFile || e.Field != "mmproj" {
		t.Errorf("%v", err)
	}
}

func item(a *memwall.Answer, id string) int64 {
	for _, it := range a.Devices[0].Ledger {
		if it.ID == id {
			return int64(it.Bytes)
		}
	}
	return 0
}

func noted(notes []memwall.Note, code string) bool {
	for _, n := range notes {
		if n.Code == code {
			return true
		}
	}
	return false
}
