package source

import (
	"path/filepath"
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/unit"
)

func resolve(t *testing.T, ref string) *Resolved {
	t.Helper()
	r, err := New(Options{}).Model(ref)
	if err != nil {
		t.Fatalf("%s: %v", ref, err)
	}
	return r
}

// TestSameNetwork: the same network through config.json, safetensors (one file, several) and GGUF has the
// same parameters, and each source the bytes that its format makes of them.
func TestSameNetwork(t *testing.T) {
	for i := range networks {
		n := &networks[i]
		t.Run(n.name, func(t *testing.T) { sameNetwork(t, n) })
	}
}

func sameNetwork(t *testing.T, n *network) {
	alone, single, split := t.TempDir(), t.TempDir(), t.TempDir()
	for _, dir := range []string{alone, single, split} {
		text(t, filepath.Join(dir, "config.json"), n.config)
	}
	write(t, filepath.Join(single, "model.safetensors"), n.tensors().File())
	n.sharded(t, split, 3)
	file := filepath.Join(t.TempDir(), "small-bf16.gguf")
	write(t, file, n.file().File())

	config := resolve(t, alone)
	if config.Format != "config" || config.Weights != nil {
		t.Errorf("config.json alone: format %q, weights %v", config.Format, config.Weights)
	}
	want := config.Model.Store(dtype.FindRecipe("bf16")).Bytes()
	if sum := sumOf(n.hub, 2); want != sum {
		t.Errorf("config.json: %d bytes in bf16, the files of the hub have %d", want, sum)
	}
	for _, dir := range []string{single, split} {
		r := resolve(t, dir)
		if r.Model.Params() != config.Model.Params() || r.Weights.Bytes() != want || r.Weights.Extra != 0 {
			t.Errorf("safetensors: %d parameters in %d bytes (%d unused), config.json gives %d in %d", r.Model.Params(), r.Weights.Bytes(), r.Weights.Extra, config.Model.Params(), want)
		}
		everyScheme(t, r)
	}
	g := resolve(t, file)
	converted := config.Spec.Converted().Model("x")
	if g.Model.Params() != converted.Params() || g.Weights.Extra != 0 {
		t.Errorf("GGUF: %d parameters (%d unused bytes), config.json gives %d", g.Model.Params(), g.Weights.Extra, converted.Params())
	}
	kept := n.name == "gpt-oss" // its published experts are no bf16, which a recipe of its files knows and this file does not
	if got, want := g.Weights.Bytes(), converted.Store(dtype.FindRecipe("gguf-bf16")).Bytes(); got != want && !kept {
		t.Errorf("GGUF: %d bytes, the recipe gives %d", got, want)
	}
	if a, b := specText(withoutLayers(config.Spec.Converted())), specText(withoutLayers(g.Spec)); a != b {
		t.Errorf("GGUF and config.json differ:\n%s\n%s", a, b)
	}
	for l, layer := range g.Spec.Layers {
		if c := config.Spec.Converted().Layers[l]; c != layer {
			t.Errorf("layer %d:\n config %+v\n gguf   %+v", l, c, layer)
		}
	}
}

func withoutLayers(s *family.Spec) family.Spec {
	c := *s
	c.Layers, c.MTP, c.Vision = nil, nil, nil
	return c
}

// sumOf adds up a list of tensors of so many bytes an element.
func sumOf(list string, width int64) (b unit.Bytes) {
	for _, t := range tensorLines(list) {
		n := width
		for _, d := range t.shape {
			n *= d
		}
		b += unit.Bytes(n)
	}
	return b
}

// everyScheme: where the storage is plain, every tensor says what it is in.
func everyScheme(t *testing.T, r *Resolved) {
	t.Helper()
	for i := range r.Weights.Parts {
		p := &r.Model.Parts[i]
		r.Weights.Parts[i].Each(func(_ int, stored []model.Stored, _ int64) {
			for j := range stored {
				if stored[j].Scheme == nil {
					t.Errorf("%s: tensor %d is in nothing (%d bytes)", p.Name, j, stored[j].Bytes)
				}
			}
		})
	}
}
