package memwall

import (
	"errors"
	"fmt"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/model/family"
)

// oneModel is the source of a comparison's model: whatever is asked for, it is that one.
type oneModel struct {
	found *Resolved
	err   error
}

// Model gives the model.
func (m oneModel) Model(string) (*Resolved, error) { return m.found, m.err }

var errNoModel = &Error{Code: UnknownModel, Field: "model", Message: "the log does not name a model that the catalog has", Hint: "give model: a catalog id, a file or a config.json"}

// model finds what the log ran: what overrides name, else an entry of the catalog with one of the log's
// names, else the header that llama.cpp printed.
func (c *comparison) model(a *Asker, overrides *Request) ModelSource {
	if overrides.Model != "" {
		return a.source()
	}
	var unknownArch *family.UnknownError
	for _, ref := range c.log.Models {
		e, err := catalog.Find(modelName(ref))
		if err != nil {
			continue
		}
		found, err := Catalog{}.Model(e.ID)
		if err != nil || !c.agrees(found.Spec) {
			continue
		}
		c.request.Model = e.ID
		return oneModel{found: found}
	}
	if m := c.log.Metadata; m != nil {
		found, err := c.fromHeader(m)
		if err == nil {
			c.request.Model = found.ID
			return oneModel{found: found}
		}
		if errors.As(err, &unknownArch) {
			return oneModel{err: &Error{Code: Unsupported, Field: "model", Value: unknownArch.Arch, Message: unknownArch.Error(), Hint: "the printed figures stand alone"}}
		}
		c.note("header", "warn", "model", "the header in the log does not describe a model: %s", err)
	}
	return oneModel{err: errNoModel}
}

// modelName is the hub's name in a path of its cache, of ModelScope's, or of a folder named after it.
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

// agrees reports whether a model has the dimensions that the log prints; without printed dimensions any
// model agrees.
func (c *comparison) agrees(s *family.Spec) bool {
	m := c.log.Metadata
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
	return same(m, arch+"embedding_length", s.Hidden) && same(m, arch+"block_count", layers) && near(m, arch+"vocab_size", s.Vocab) && same(m, arch+"attention.head_count", heads)
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

// near: conversions pad or cut vocabularies by a little.
func near(m *startup.Metadata, key string, want int64) bool {
	n, ok := m.Int(key)
	return !ok || n-want < 1024 && want-n < 1024
}

// fromHeader builds the model of a printed header. Which tensors the file has beside those that the
// dimensions call for is not printed, but how many it has is: the choice that gives that number is taken.
func (c *comparison) fromHeader(m *startup.Metadata) (*Resolved, error) {
	embedding := m.Tensors
	var found *family.Spec
	for _, extra := range tensorChoices {
		m.Tensors = func(name string) ([]int64, bool) {
			if hasWord(extra, name) {
				return []int64{1, 1}, true
			}
			return embedding(name)
		}
		spec, err := family.FromHeader(m)
		if err != nil {
			return nil, err
		}
		if n := tensors(spec); found == nil || n == m.Count {
			found = spec
			if n == m.Count {
				break
			}
		}
	}
	m.Tensors = embedding
	if m.Count > 0 && tensors(found) != m.Count && c.noWeights == "" {
		c.noWeights = fmt.Sprintf("the file has %d tensors, and a %s of these dimensions has %d: give model", m.Count, m.Architecture(), tensors(found))
	}
	found.Native = dtype.F16
	id := m.Architecture()
	if len(c.log.Models) > 0 {
		id = c.log.Models[0]
	}
	return &Resolved{ID: id, Name: id, Spec: found, Format: "gguf-log", Provenance: "the header that llama.cpp printed"}, nil
}

// tensorChoices are what files of one architecture may have or not: a head of its own, rotary factors,
// biases of attention.
var tensorChoices = []string{
	"output.weight", "", "output.weight rope_freqs.weight", "rope_freqs.weight", "output.weight blk.0.attn_q.bias blk.0.attn_k.bias blk.0.attn_v.bias",
	"blk.0.attn_q.bias blk.0.attn_k.bias blk.0.attn_v.bias", "output.weight rope_factors_long.weight rope_factors_short.weight",
}

func hasWord(list, word string) bool {
	for _, w := range strings.Fields(list) {
		if w == word {
			return true
		}
	}
	return false
}

// tensors counts what a file of the model holds.
func tensors(s *family.Spec) (n int64) {
	m := s.Model("")
	for i := range m.Parts {
		m.Parts[i].Tensors(func(_ int, _ *model.Tensor) { n++ })
	}
	return n
}
