package source

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/format"
	"github.com/memwall/memwall/format/safetensors"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/unit"
)

// checkpoint reads the headers of safetensors files and returns their model: described by the accompanying config.json,
// stored as the files say.
func (d *disk) checkpoint(id string, s *shards) (*Resolved, error) {
	files, err := d.headers(s)
	if err != nil {
		return nil, err
	}
	tensors, err := s.tensors(files)
	if err != nil {
		return nil, err
	}
	r := &Resolved{ID: id, Format: "safetensors", Path: d.given(s.dir)}
	for _, f := range files {
		r.FileBytes += unit.Bytes(f.Size)
	}
	r.Provenance = fmt.Sprintf("%s: %s tensors", filesText(s.names), unit.Count(int64(len(tensors))))
	switch {
	case adapter(tensors):
		return nil, adapterError(id, "")
	case len(tensors) == 0:
		return nil, badFile(s.names[0], "", "holds no tensors", "give the model's own files")
	}
	c, err := d.configuration(s.dir)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return unknownTensors(r, "unknown (no config.json)", tensors), nil
	}
	r.Provenance += ", config.json"
	spec, err := c.spec(r)
	if unknown, ok := errors.AsType[*family.UnknownError](err); ok {
		return unknownTensors(r, unknown.Arch, tensors), nil
	}
	if err != nil {
		return nil, err
	}
	odd, err := c.file(r, spec, tensors)
	if err != nil {
		return nil, err
	}
	if odd != nil {
		return unknownTensors(&Resolved{ID: id, Format: r.Format, FileBytes: r.FileBytes, Provenance: r.Provenance, Path: r.Path}, spec.Arch+" with "+odd.name, tensors), nil
	}
	return r, nil
}

func filesText(names []string) string {
	if len(names) == 1 {
		return "file " + names[0]
	}
	return fmt.Sprintf("%d safetensors files", len(names))
}

// tensors returns the tensors of all files, each once, from the file that the index names if there is one.
func (s *shards) tensors(files []*safetensors.File) ([]fileTensor, error) {
	var out []fileTensor
	seen := map[string]string{}
	var total int64 // elements and bytes, checked for overflow
	for i, f := range files {
		if f.Elements() > math.MaxInt64/2-total || f.Size > math.MaxInt64/2-total {
			return nil, badFile(s.names[i], "", "the files together hold 2^62 elements or bytes or more", format.FetchAgain)
		}
		total += max(f.Elements(), f.Size)
		if len(out)+len(f.Tensors) > mostTensors {
			return nil, badFile(s.names[i], "", fmt.Sprintf("the files together hold more than %s tensors", unit.Count(mostTensors)), "give the files of one model")
		}
		for j := range f.Tensors {
			t := &f.Tensors[j]
			if owner, ok := s.owner[t.Name]; ok && owner != s.names[i] {
				continue
			}
			if before, twice := seen[t.Name]; twice {
				return nil, badFile(s.names[i], t.Name, fmt.Sprintf("tensor %s is in %s too", format.Quote(t.Name), before), "give the files of one model, each once")
			}
			seen[t.Name] = s.names[i]
			out = append(out, fileTensor{t.Name, t.Shape, t.Format, t.Elements(), unit.Bytes(t.Bytes())})
		}
	}
	return out, s.promised(seen)
}

// mostTensors is the maximum number of tensors; the largest published models have some 300,000, including scales.
const mostTensors = 1 << 20

// promised checks that the files contain what the index lists.
func (s *shards) promised(seen map[string]string) error {
	var missing []string
	for name := range s.owner {
		if _, ok := seen[name]; !ok {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	return badFile(indexName, missing[0], fmt.Sprintf("%d tensors of the index are not in its files: %s", len(missing), listed(missing)), "fetch the files and the index again")
}

// unknownTensors keeps the weights of an unknown architecture.
func unknownTensors(r *Resolved, arch string, tensors []fileTensor) *Resolved {
	var bytes unit.Bytes
	for i := range tensors {
		bytes += tensors[i].bytes
		r.Parameters += tensors[i].elems
		if n, ok := readName(tensors[i].name); ok && n.part == partDecoder {
			r.Layers = max(r.Layers, int64(n.layer)+1)
		}
	}
	r.UnknownArch = arch
	r.Model = unknownModel(r.ID, arch)
	r.Weights = &model.Weights{Name: "as in the file", Parts: make([]model.PartWeights, 1), Extra: bytes, ExtraName: "weights"}
	return r
}

// file assigns the tensors to the model that the configuration describes, and returns one that shows the network to be
// a different one, if any.
func (c *configuration) file(r *Resolved, spec *family.Spec, tensors []fileTensor) (odd *fileTensor, err error) {
	c.trim(r, spec, tensors)
	r.Spec, r.Model = spec, spec.Model(r.ID)
	if err := c.store(r); unknownMethodOf(err) {
		note(r, "quantisation_unknown", "%s: %v; the tensors are sized", c.name, err)
	} else if err != nil {
		return nil, err
	}
	f := newFiling(r.Model)
	for i := range tensors {
		f.put(&tensors[i])
	}
	w, wrong := f.weights(c.storage(r, tensors), promisedBy(r))
	if err := c.lies(f, wrong); err != nil {
		return nil, err
	}
	if err := wrong.err(r.Model.Family, ownConfig); err != nil {
		return nil, err
	}
	r.Weights = w
	c.disagree(r)
	leave(r, f.extra)
	return f.unread(), nil
}

// unknownMethodOf: the configuration names a method that is not known, beside tensors that need none.
func unknownMethodOf(err error) bool {
	e, ok := errors.AsType[*memwall.Error](err)
	return ok && e.Code == memwall.Unsupported && strings.HasSuffix(e.Field, "quant_method")
}

// disagree notes that the tensors take clearly more or less than the quantization_config says: the tensors are sized.
func (c *configuration) disagree(r *Resolved) {
	const most = 1.25
	recipe := promisedRecipe(r)
	if recipe == nil {
		return
	}
	said := r.Model.Store(recipe)
	if times := float64(r.Weights.Bytes()) / float64(said.Bytes()); times < most && times > 1/most {
		return
	}
	note(r, "quantisation_contradicts", "%s says %s (%.1f bits per weight), "+
		"the tensors store %.1f bits per weight: the tensors are sized", c.name, recipe.Name, r.Model.Bits(said), r.Model.Bits(r.Weights))
}

// promisedRecipe returns how a checkpoint says that it is quantised; nil if it does not.
func promisedRecipe(r *Resolved) *dtype.Recipe {
	if r.Scheme != nil {
		return r.Scheme
	}
	return dtype.FindRecipe(r.Recipe)
}

// promisedBy returns a function that looks up a tensor's scheme in the checkpoint's recipe.
func promisedBy(r *Resolved) func(string, int, *model.Tensor) *dtype.Scheme {
	recipe := promisedRecipe(r)
	if recipe == nil {
		return nil
	}
	type key struct {
		part  string
		layer int
		slot  slot
	}
	schemes := map[key]*dtype.Scheme{}
	note := *recipe
	note.Pick = func(s *dtype.Site) *dtype.Scheme {
		x := recipe.Pick(s)
		schemes[key{s.Part, s.Layer, slot{s.Role, s.Bias}}] = x
		return x
	}
	r.Model.Store(&note)
	return func(part string, layer int, t *model.Tensor) *dtype.Scheme {
		return schemes[key{part, layer, slot{t.Role, t.Bias}}]
	}
}

// trim removes from the model what the files omit entirely: a head, a tower, prediction layers.
func (c *configuration) trim(r *Resolved, spec *family.Spec, tensors []fileTensor) {
	head, vision, mtp := false, false, false
	for i := range tensors {
		n, ok := readName(tensors[i].name)
		if !ok {
			continue
		}
		head = head || n.part == partDecoder && n.scope() == atEnds && holdsRole(n.module, dtype.Output)
		vision = vision || strings.HasPrefix(n.part, family.PartVision)
		mtp = mtp || n.part == model.PartMTP || n.layer >= len(spec.Layers)
	}
	if !head && !spec.Tied && !spec.NoHead {
		spec.NoHead = true
		note(r, "no_head", "the files hold no head (lm_head): sized without one")
	}
	if !vision && spec.Vision != nil {
		spec.Vision = nil
		note(r, "no_tower", "the files hold no vision tower: sized without one")
	}
	if !mtp && len(spec.MTP) > 0 {
		spec.MTP, spec.MTPEnds = nil, false
		note(r, "no_prediction_layers", "the files hold no prediction layers: sized without them")
	}
	if head && spec.Tied {
		note(r, "duplicate_head", "the head is tied to the embedding, and the files hold a second copy, which engines do not load")
	}
}

func holdsRole(module string, role dtype.Role) bool {
	return slices.ContainsFunc(forms("", atEnds, module), func(f form) bool { return slices.Contains(f, slot{role: role}) })
}

// adapter reports whether tensors are named as PEFT names adapters.
func adapter(tensors []fileTensor) bool {
	for i := range tensors {
		if n := tensors[i].name; !containsAny(n, ".lora_A.", ".lora_B.", "lora_embedding_A") {
			return false
		}
	}
	return len(tensors) > 0
}

func adapterError(name, base string) error {
	e := &memwall.Error{Code: memwall.Unsupported, Field: "model", Value: name, Message: name + " is a LoRA adapter, not a model", Hint: "give its base model, and the adapter as an adapter"}
	if base != "" {
		e.Message += fmt.Sprintf(": it was made for %s", format.Quote(base))
	}
	return e
}
