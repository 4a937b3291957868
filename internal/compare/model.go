package compare

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/model/family"
)

// oneModel is a source that resolves every reference to the comparison's model.
type oneModel struct {
	found *api.Resolved
	err   error
}

// Model returns the model.
func (m oneModel) Model(string) (*api.Resolved, error) { return m.found, m.err }

var ErrNoModel = &api.Error{Code: api.UnknownModel, Field: "model", Message: "the log does not name a model that the catalog has",
	Hint: "give model: a catalog id, a file or a config.json"}

// model returns the model that the log ran: the one overrides name, else a catalog entry with one of the log's names, else one
// built from the header that llama.cpp printed.
func (b *Rebuilt) model(a *question.Env, overrides *api.Request) api.ModelSource {
	if overrides.Model != "" {
		return a.Source()
	}
	var unknownArch *family.UnknownError
	for _, ref := range b.Log.Models {
		e, err := catalog.Find(modelName(ref))
		if err != nil {
			continue
		}
		found, err := question.Catalog{}.Model(e.ID)
		if err != nil || !b.agrees(found.Spec) {
			continue
		}
		b.Request.Model = e.ID
		return oneModel{found: found}
	}
	if m := b.Log.Metadata; m != nil {
		found, err := b.fromHeader(m)
		if err == nil {
			b.Request.Model = found.ID
			return oneModel{found: found}
		}
		if errors.As(err, &unknownArch) {
			return oneModel{err: &api.Error{Code: api.Unsupported, Field: "model", Value: unknownArch.Arch, Message: unknownArch.Error(),
				Hint: "the printed figures stand alone"}}
		}
		b.note("header", "warn", "model", "the header in the log does not describe a model: %s", err)
	}
	return oneModel{err: ErrNoModel}
}

// modelName returns the hub name in a path of its cache, of ModelScope's, or of a folder named after it.
func modelName(ref string) string {
	ref = strings.TrimRight(strings.ReplaceAll(strings.ReplaceAll(ref, `\`, "/"), "___", "."), "/")
	if _, rest, ok := strings.Cut(ref, "models--"); ok {
		name, _, _ := strings.Cut(rest, "/")
		return strings.Replace(name, "--", "/", 1)
	}
	parts := strings.Split(ref, "/")
	if n := len(parts); n > 2 || n == 2 && parts[0] == "" || strings.HasPrefix(ref, ".") {
		return parts[n-1]
	}
	return ref
}

// agrees reports whether a model has the dimensions that the log prints; without printed dimensions any model agrees.
func (b *Rebuilt) agrees(s *family.Spec) bool {
	m := b.Log.Metadata
	if m == nil || s == nil {
		return true
	}
	arch := m.Architecture() + "."
	layers, heads := int64(len(s.Layers)), int64(0)
	for i := range s.Layers {
		heads = max(heads, s.Layers[i].Attn.Heads)
	}
	if n, ok := m.Int(arch + "nextn_predict_layers"); ok {
		layers += n
	}
	return same(m, arch+"embedding_length", s.Hidden) && same(m, arch+"block_count", layers) && near(m, arch+"vocab_size", s.Vocab) &&
		same(m, arch+"attention.head_count", heads)
}

func same(m *startup.Metadata, key string, want int64) bool {
	list, ok := m.Ints(key)
	if !ok {
		return true
	}
	most := int64(0)
	for _, n := range list {
		most = max(most, n)
	}
	return most == want || want == 0
}

// near reports whether a vocabulary size is about as printed: conversions pad or truncate vocabularies slightly.
func near(m *startup.Metadata, key string, want int64) bool {
	n, ok := m.Int(key)
	return !ok || n-want < 1024 && want-n < 1024
}

// fromHeader builds the model of a printed header. The header does not list tensors beyond those implied by the dimensions, but it
// does print the numbers of tensors and parameters: the combination that matches both is used. If none does, or several different
// ones, the weights remain open.
func (b *Rebuilt) fromHeader(m *startup.Metadata) (*api.Resolved, error) {
	embedding := m.Tensors
	defer func() { m.Tensors = embedding }()
	var fits []*family.Spec
	var any *family.Spec
	for _, extra := range tensorChoices {
		m.Tensors = func(name string) ([]int64, bool) {
			if table, ok := b.table(extra, name); ok {
				return table, true
			}
			return embedding(name)
		}
		spec, err := family.FromHeader(m)
		if err != nil {
			return nil, err
		}
		if any == nil {
			any = spec
		}
		if b.countsFit(spec, m) {
			fits = append(fits, spec)
		}
	}
	b.openWeights(fits, any, m)
	if len(fits) > 0 {
		any = fits[0]
	}
	any.Native = dtype.F16
	id := m.Architecture()
	if len(b.Log.Models) > 0 {
		id = b.Log.Models[0]
	}
	return &api.Resolved{ID: id, Name: id, Spec: any, Format: "gguf-log", Provenance: "the header that llama.cpp printed"}, nil
}

// openWeights returns why the header does not determine the weights.
func (b *Rebuilt) openWeights(fits []*family.Spec, any *family.Spec, m *startup.Metadata) {
	switch {
	case b.noWeights != "" || m.Count == 0 && len(fits) > 0:
	case len(fits) == 0:
		b.noWeights = fmt.Sprintf("the file has %d tensors, and a %s of these dimensions has %d: give model", m.Count, m.Architecture(),
			tensors(any))
	default:
		for _, s := range fits[1:] {
			if s.Tied != fits[0].Tied {
				b.noWeights = "the log does not tell whether the file has a head of its own: give model"
			}
		}
	}
}

// countsFit compares tensors and parameters with the printed counts, as far as printed.
func (b *Rebuilt) countsFit(s *family.Spec, m *startup.Metadata) bool {
	if m.Count > 0 && tensors(s) != m.Count {
		return false
	}
	const tables = 1 << 14 // rotary factors, which only some files count
	if n := b.Log.Find("parameter_count"); n != nil && math.Abs(elements(s.Model(""))-n.Value) > tables {
		return false
	}
	f := b.Log.Find("parameters")
	if f == nil {
		return true
	}
	n, ok := parametersIn(s.Model(""), f.Unit)
	return !ok || math.Abs(n-f.Value) <= f.Half()*(1+1e-9)
}

// parametersIn counts parameters in the given unit, including prediction layers.
func parametersIn(m *model.Model, unit string) (float64, bool) {
	scale := map[string]float64{"K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}[unit]
	n := m.Params()
	if mtp := m.Part(model.PartMTP); mtp != nil {
		n += mtp.Params()
	}
	return float64(n) / max(scale, 1), scale > 0
}

// tensorChoices are tensors that files of one architecture may or may not have: an output head, rotary factors, attention biases.
var tensorChoices = []string{
	"output.weight", "", "output.weight rope_freqs.weight", "rope_freqs.weight",
	"output.weight blk.0.attn_q.bias blk.0.attn_k.bias blk.0.attn_v.bias",
	"blk.0.attn_q.bias blk.0.attn_k.bias blk.0.attn_v.bias", "output.weight rope_factors_long.weight rope_factors_short.weight",
	"rope_factors_long.weight rope_factors_short.weight",
}

// table returns the dimensions of a chosen tensor; rotary factors have half a head's.
func (b *Rebuilt) table(chosen, name string) ([]int64, bool) {
	if !hasWord(chosen, name) {
		return nil, false
	}
	m := b.Log.Metadata
	n, ok := m.Int(m.Architecture() + ".rope.dimension_count")
	if !strings.HasPrefix(name, "rope_") || !ok {
		return []int64{1, 1}, true
	}
	return []int64{n / 2}, true
}

func hasWord(list, word string) bool {
	return slices.Contains(strings.Fields(list), word)
}

// elements counts the elements of all tensors, including rotary factors.
func elements(m *model.Model) (n float64) {
	for i := range m.Parts {
		m.Parts[i].Tensors(func(_ int, t *model.Tensor) { n += float64(t.Elems()) })
	}
	return n
}

// tensors counts the tensors in a file of the model.
func tensors(s *family.Spec) (n int64) {
	m := s.Model("")
	for i := range m.Parts {
		m.Parts[i].Tensors(func(_ int, _ *model.Tensor) { n++ })
	}
	return n
}
