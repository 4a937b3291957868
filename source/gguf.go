package source

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/format/gguf"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/unit"
)

// header presents a GGUF file to the families.
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

// TensorDims returns a tensor's dimensions, innermost first.
func (h *header) TensorDims(name string) ([]int64, bool) {
	d, ok := h.dims[name]
	return d, ok
}

// gguf opens a GGUF file, or the split set that it belongs to.
func (d *disk) gguf(file string) (*Resolved, error) {
	dir, name := path.Split(file)
	names := gguf.ShardNames(name)
	if names == nil {
		names = []string{name}
	}
	if err := d.complete(&shards{dir: dir, names: names}); err != nil {
		return nil, err
	}
	files, err := each(names, d.atOnce(), func(n string) (*gguf.File, error) { return d.ggufHeader(dir + n) })
	if err != nil {
		return nil, err
	}
	f, err := gguf.Join(files)
	if err != nil {
		return nil, inFile(name, err)
	}
	if isProjector(f) {
		return &Resolved{ID: ggufID(name), Projector: projector(f)}, nil
	}
	r, err := GGUF(ggufID(name), f)
	if err != nil {
		return nil, inFile(name, err)
	}
	r.Provenance, r.Path = ggufProvenance(names, f), d.given(dir+names[0])
	return r, nil
}

func (d *disk) ggufHeader(file string) (*gguf.File, error) {
	f, size, err := d.file(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h, err := across(f, size)
	if err != nil {
		return nil, inFile(path.Base(file), err)
	}
	return h, nil
}

// gapped is a file that is stored without gaps of its header.
type gapped interface {
	// Gaps returns the omitted gaps; their content must not be read.
	Gaps() []gguf.Gap
	// KeepWithout omits the gaps when storing the file from now on.
	KeepWithout(gaps []gguf.Gap)
}

func across(f handle, size int64) (*gguf.File, error) {
	g, ok := f.(gapped)
	if !ok {
		return gguf.Read(f, size)
	}
	h, err := gguf.ReadAcross(f, size, g.Gaps())
	if err == nil {
		g.KeepWithout(h.Gaps)
	}
	return h, err
}

// ggufID returns the file name without shard number and extension.
func ggufID(name string) string {
	if prefix, _, _, ok := gguf.SplitName(name); ok {
		return prefix
	}
	return strings.TrimSuffix(name, path.Ext(name))
}

func ggufProvenance(names []string, f *gguf.File) string {
	what := "file " + names[0]
	if len(names) > 1 {
		what = fmt.Sprintf("%s and %d more files", names[0], len(names)-1)
	}
	return fmt.Sprintf("%s: %s tensors, GGUF v%d", what, unit.Count(int64(len(f.Tensors))), f.Version)
}

// notModel returns an error for files that hold something other than a model.
func notModel(f *gguf.File) error {
	kind, _ := f.String("general.type")
	e := &memwall.Error{Code: memwall.Unsupported, Field: "general.type", Value: kind}
	switch {
	case isProjector(f):
		return besideModel("general.architecture")
	case kind == "adapter":
		e.Message, e.Hint = "this is a LoRA adapter, not a model", "give its base model, and the adapter as an adapter"
	case kind == "imatrix" || kind == "vocab" || len(f.Tensors) == 0:
		e.Message, e.Hint = "this GGUF file holds no model: it has "+unit.Count(int64(len(f.Tensors)))+" tensors and is of the type "+strconv.Quote(kind), "give the model's own file"
	default:
		return nil
	}
	return e
}

// GGUF returns the model that a header describes, with every tensor stored as in the file. For an unknown architecture,
// weights are still exact but caches unknown.
func GGUF(id string, f *gguf.File) (*Resolved, error) {
	if err := notModel(f); err != nil {
		return nil, err
	}
	h := newHeader(f)
	r := &Resolved{ID: id, Format: "gguf", FileBytes: unit.Bytes(f.Size), Recipe: fileRecipe(f)}
	spec, err := family.FromHeader(h)
	if unknown, ok := errors.AsType[*family.UnknownError](err); ok {
		if spec = h.alike(r, family.Families()); spec == nil {
			return unknownArchitecture(r, unknown.Arch, f), nil
		}
		err = nil
	}
	if err != nil {
		return nil, err
	}
	spec.Native = dtype.F16
	r.Spec = spec
	r.Model = spec.Model(id)
	left, err := fileWeights(r, h)
	if err != nil {
		return nil, err
	}
	if g := unread(left); g != nil {
		return unknownArchitecture(&Resolved{ID: id, Format: r.Format, FileBytes: r.FileBytes, Recipe: r.Recipe}, h.Architecture()+" with "+g.Name, f), nil
	}
	unusedGGUF(r, left)
	return r, h.vocabulary(r)
}

// fileRecipe returns the name of the recipe given by general.file_type.
func fileRecipe(f *gguf.File) string {
	if t, ok := f.Int("general.file_type"); ok {
		if r := dtype.RecipeByFileType(int(t)); r != nil {
			return r.Name
		}
	}
	return ""
}

// fileWeights looks up every tensor of the model and returns the file's unused ones. A missing tensor is an error, as
// is a header that contradicts its tensors.
func fileWeights(r *Resolved, h *header) (left []*gguf.Tensor, err error) {
	byName := make(map[string]*gguf.Tensor, len(h.Tensors))
	for i := range h.Tensors {
		byName[h.Tensors[i].Name] = &h.Tensors[i]
	}
	wrong := &faults{}
	layers := len(r.Model.Decoder().Layers)
	r.Weights = r.Model.Stored("as in the file", func(p *model.Part, layer int, t *model.Tensor) model.Stored {
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
			wrong.missing = append(wrong.missing, name)
			return model.Stored{}
		case g.Elements() != t.Elems():
			wrong.odd(name, p.Name, where{}, g.Elements(), t.Elems())
		}
		return stored(g)
	})
	for i := range h.Tensors {
		if g := &h.Tensors[i]; byName[g.Name] != nil {
			left = append(left, g)
		}
	}
	if err := h.lies(r, wrong, left); err != nil {
		return nil, err
	}
	return left, wrong.err(r.Model.Family, fetchOrConvert)
}

const fetchOrConvert = "fetch the file again, or convert the model again with a current convert_hf_to_gguf.py"

// unusedGGUF counts the file's unused tensors.
func unusedGGUF(r *Resolved, left []*gguf.Tensor) {
	var extra []fileTensor
	for _, t := range left {
		extra = append(extra, fileTensor{t.Name, t.Dims, t.Format, t.Elements(), unit.Bytes(t.Bytes)})
	}
	leave(r, extra)
}

func stored(g *gguf.Tensor) model.Stored {
	s := model.Stored{Bytes: unit.Bytes(g.Bytes)}
	if g.Format != nil {
		s.Scheme = dtype.Of(g.Format)
	}
	return s
}

// unknownArchitecture keeps the weights: one layer that owns everything, without caches.
func unknownArchitecture(r *Resolved, arch string, f *gguf.File) *Resolved {
	r.UnknownArch = arch
	r.Model = unknownModel(r.ID, arch)
	r.Weights = &model.Weights{Name: "as in the file", Parts: make([]model.PartWeights, 1), Extra: unit.Bytes(f.TensorBytes()), ExtraName: "weights"}
	if n, ok := f.Int(f.Arch("block_count")); ok && n > 0 && n < 4096 {
		r.Layers = n
	}
	r.Parameters = f.Elements()
	return r
}
