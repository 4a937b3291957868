package source

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/format/gguf"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/unit"
)

// header gives a GGUF file to the families.
type header struct {
	*gguf.File
	dims map[string][]int64
}

func newHeader(f *gguf.File) *header {
	h := &header{File: f, dims: make(map[string][]int64, len(f.Tensors))}
	for i := range f.Tensors {
		h.dims[f.Tensors[i].Name] = f.Tensors[i].Dims
	}
	return h
}

// TensorDims gives a tensor's dimensions, innermost first.
func (h *header) TensorDims(name string) ([]int64, bool) {
	d, ok := h.dims[name]
	return d, ok
}

// GGUF gives the model that a header describes, with every tensor stored as the file has it. An unknown
// architecture still has its weights, exact; its caches are unknown.
func GGUF(id string, f *gguf.File) (*Resolved, error) {
	h := newHeader(f)
	r := &Resolved{ID: id, Format: "gguf", FileBytes: unit.Bytes(f.Size), Recipe: fileRecipe(f)}
	spec, err := family.FromHeader(h)
	if unknown, ok := err.(*family.UnknownError); ok {
		return unknownArchitecture(r, unknown.Arch, f), nil
	}
	if err != nil {
		return nil, err
	}
	spec.Native = dtype.F16
	r.Spec = spec
	r.Model = spec.Model(id)
	r.Weights, err = fileWeights(r.Model, f)
	return r, err
}

// fileRecipe names what general.file_type says the file is quantised to.
func fileRecipe(f *gguf.File) string {
	if t, ok := f.Int("general.file_type"); ok {
		if r := dtype.RecipeByFileType(int(t)); r != nil {
			return r.Name
		}
	}
	return ""
}

// fileWeights looks up every tensor of the model. Tensors of the file that the model does not use are
// added to Extra; a tensor that the file lacks is an error.
func fileWeights(m *model.Model, f *gguf.File) (*model.Weights, error) {
	byName := make(map[string]*gguf.Tensor, len(f.Tensors))
	for i := range f.Tensors {
		byName[f.Tensors[i].Name] = &f.Tensors[i]
	}
	var missing error
	layers := len(m.Decoder().Layers)
	w := m.Stored("as in the file", func(p *model.Part, layer int, t *model.Tensor) model.Stored {
		if p.Name == model.PartMTP && layer >= 0 {
			layer += layers
		}
		name := t.GGUF(layer)
		g := byName[name]
		delete(byName, name)
		switch {
		case g == nil && (t.Table || p.Name == model.PartMTP):
			return model.Stored{}
		case g == nil:
			missing = firstError(missing, fmt.Errorf("the file has no tensor %s, which every %s has", name, m.Family))
			return model.Stored{}
		case g.Elements() != t.Elems():
			missing = firstError(missing, fmt.Errorf("tensor %s has %s elements, and a %s of these dimensions has %s", name, unit.Count(g.Elements()), m.Family, unit.Count(t.Elems())))
		}
		return stored(g)
	})
	for _, g := range byName {
		w.Extra += unit.Bytes(g.Bytes)
	}
	if w.Extra > 0 {
		w.ExtraName = "tensors that the engine does not load"
	}
	return w, missing
}

func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

func stored(g *gguf.Tensor) model.Stored {
	s := model.Stored{Bytes: unit.Bytes(g.Bytes)}
	if g.Format != nil {
		s.Scheme = dtype.Of(g.Format)
	}
	return s
}

// unknownArchitecture keeps the weights: one layer that owns everything, no caches.
func unknownArchitecture(r *Resolved, arch string, f *gguf.File) *Resolved {
	r.UnknownArch = arch
	r.Model = &model.Model{ID: r.ID, Arch: arch, Family: arch, Parts: []model.Part{{Name: "decoder"}}}
	r.Weights = &model.Weights{Name: "as in the file", Parts: make([]model.PartWeights, 1), Extra: unit.Bytes(f.TensorBytes()), ExtraName: "weights"}
	if n, ok := f.Int(strings.TrimSpace(arch) + ".block_count"); ok && n > 0 && n < 4096 {
		r.Layers = n
	}
	r.Parameters = f.Elements()
	return r
}
