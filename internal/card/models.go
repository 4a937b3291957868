package card

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/shard"
	"github.com/memwall/memwall/unit"
)

// ModelRow is a line of the list of models.
type ModelRow struct {
	ID         string `json:"id"`
	Name       string `json:"name,omitempty"`
	Released   string `json:"released,omitempty"`
	Parameters int64  `json:"parameters"`
	Active     int64  `json:"active_parameters"`
	Context    int64  `json:"context,omitempty"`
	// KVPerToken is what one more token of a long sequence takes in 16 bits, on one device.
	KVPerToken unit.Bytes `json:"kv_bytes_per_token"`
	Attention  string     `json:"attention"`
	Short      string     `json:"-"` // Attention in a word or two
}

// Model is the card of a model.
type Model struct {
	ModelRow
	Reference    string      `json:"-"` // what asks for it again: the id of the catalog, or the path
	Hub          string      `json:"hub,omitempty"`
	Aliases      []string    `json:"aliases,omitempty"`
	Architecture string      `json:"architecture"`
	Family       string      `json:"family"`
	Layers       []LayerKind `json:"layers"`
	Hidden       int64       `json:"hidden"`
	Vocabulary   int64       `json:"vocabulary"`
	Heads        int64       `json:"heads,omitempty"`
	KVHeads      int64       `json:"kv_heads,omitempty"`
	HeadDim      int64       `json:"head_dim,omitempty"`
	Experts      int64       `json:"experts,omitempty"`
	ExpertsUsed  int64       `json:"experts_used,omitempty"`
	Tied         bool        `json:"tied"`
	Embeddings   int64       `json:"embedding_parameters,omitempty"`
	MTP          int64       `json:"mtp_parameters,omitempty"`
	TiedHead     int64       `json:"tied_head_parameters,omitempty"`
	Towers       []LayerKind `json:"towers,omitempty"`
	Pass         *Pass       `json:"pass,omitempty"`
	Native       string      `json:"native,omitempty"`
	Caches       []CacheAt   `json:"caches"`
	Weights      []StoredIn  `json:"weights"`
	Source       string      `json:"source"`
}

// LayerKind is a kind of layer with the number of its layers; for a tower, Count is its parameters.
type LayerKind struct {
	Name  string `json:"name"`
	Count int64  `json:"count"`
}

// Pass is the arithmetic of one denoiser pass over the tokens of an image and its text.
type Pass struct {
	Image int64      `json:"image_tokens"`
	Text  int64      `json:"text_tokens"`
	FLOPs unit.FLOPs `json:"flops"`
}

// A picture of 1024 × 1024 is 64 × 64 tokens of latent patches; 512 tokens are the longest text of most denoisers.
const (
	imageTokens = 4096
	textTokens  = 512
)

// CacheAt is the memory of one sequence of a length in 16-bit caches.
type CacheAt struct {
	Context int64      `json:"context"`
	Bytes   unit.Bytes `json:"bytes"`
}

// StoredIn is the model's weights in a format.
type StoredIn struct {
	Recipe string     `json:"recipe"`
	Bytes  unit.Bytes `json:"bytes"`
	// Bits of a parameter, scales and tensors left alone included.
	Bits float64 `json:"bits_per_parameter"`
	// Published: the checkpoint comes in it.
	Published bool `json:"published,omitempty"`
}

// Models returns the catalog's models that match a filter, likeliest first, in the order of completions.
func Models(filter string) []ModelRow {
	var out []ModelRow
	for _, c := range ranked(filter, models()) {
		e := c.entry
		s, err := e.Spec()
		if err != nil {
			continue
		}
		r := row(s.Model(e.ID))
		r.Name, r.Released = e.Name, e.Released
		out = append(out, r)
	}
	return out
}

func row(m *model.Model) ModelRow {
	long, short := attention(m)
	return ModelRow{ID: m.ID, Parameters: m.Params(), Active: m.ActiveParams(), Context: m.Context, KVPerToken: perToken(m),
		Attention: long, Short: short}
}

// perToken asks the engines' rule for one device and 16-bit keys and values.
func perToken(m *model.Model) unit.Bytes {
	w := m.Store(dtype.FindRecipe("bf16"))
	placed, err := engine.Place(m.Decoder(), &w.Parts[0], shard.Parallel{})
	if err != nil || len(placed) == 0 {
		return 0
	}
	return engine.PerToken(placed[0].Kinds, dtype.BF16, dtype.BF16)
}

// memory counts the layers of a model by what they remember.
type memory struct {
	full, latent, recurrent int64
	cross                   int64 // over an encoder's output
	width                   int64 // of a latent
	spans                   map[int64]int64
}

func memoryOf(m *model.Model) memory {
	x := memory{spans: map[int64]int64{}}
	m.Decoder().Each(func(k *model.Kind, n int64) {
		k.Caches(func(c model.Cache) {
			switch c.Class {
			case model.StateCache:
				x.recurrent += n
			case model.LatentKV:
				x.latent += n
				x.width = c.K
			case model.WindowKV, model.ChunkKV:
				x.spans[c.Span] += n
			case model.FullKV:
				x.full += n
			case model.CrossKV:
				x.cross += n
			}
		})
	})
	return x
}

// attention says in words what layers remember: "GQA 32/16, 52 × window 1k", and shorter "GQA 32/16,
// window".
func attention(m *model.Model) (long, short string) {
	x := memoryOf(m)
	var words, brief []string
	switch {
	case !m.Remembers():
		return "encoder: every token reads every other", "encoder"
	case x.latent > 0:
		words = append(words, fmt.Sprintf("MLA %d", x.width))
	case x.full > 0 || len(x.spans) > 0:
		words = append(words, heads(m.Traits.Heads, m.Traits.KVHeads))
	case x.recurrent == 0:
		words = append(words, "encoder "+heads(m.Traits.Heads, m.Traits.KVHeads))
	}
	brief = append(brief, words...)
	for _, s := range slices.Sorted(maps.Keys(x.spans)) {
		words = append(words, fmt.Sprintf("%d × window %s", x.spans[s], unit.Length(s)))
	}
	if len(x.spans) > 0 {
		brief = append(brief, "window")
	}
	if x.cross > 0 {
		words, brief = append(words, fmt.Sprintf("%d × cross-attention", x.cross)), append(brief, "cross")
	}
	if x.recurrent > 0 {
		words = append(words, fmt.Sprintf("%d × recurrent", x.recurrent))
		if brief = append(brief, "hybrid"); len(brief) == 1 {
			brief[0] = "recurrent"
		}
	}
	return strings.Join(words, ", "), strings.Join(brief, ", ")
}

func heads(q, kv int64) string {
	switch {
	case q == kv:
		return fmt.Sprintf("MHA %d", q)
	case kv == 1:
		return fmt.Sprintf("MQA %d/1", q)
	}
	return fmt.Sprintf("GQA %d/%d", q, kv)
}

// isName reports whether an entry is called so.
func isName(name string) bool {
	for _, e := range catalog.All() {
		for _, n := range append([]string{e.ID, e.Name, e.Hub}, e.Aliases...) {
			if fold(n) == fold(name) {
				return true
			}
		}
	}
	return false
}

// Look finds the model that words name, or that several have them in their names: "qwen3" is a tag of Ollama's, and who
// looks for it wants to see all of them.
func Look(src memwall.ModelSource, words string) (m *Model, several bool, err error) {
	list := Models(words)
	if len(list) > 1 && !isName(words) {
		return nil, true, nil
	}
	if m, err = ModelOf(src, words); err != nil && len(list) > 0 {
		return nil, true, nil
	}
	return m, false, err
}

// ModelOf returns the card of the model that a reference resolves to.
func ModelOf(src memwall.ModelSource, ref string) (*Model, error) {
	r, err := src.Model(ref)
	if err != nil {
		return nil, err
	}
	if r.UnknownArch != "" {
		return nil, &memwall.Error{Code: memwall.Unsupported, Field: "model", Value: r.UnknownArch,
			Message: fmt.Sprintf("no model family reads the architecture %q: its layers are unknown", r.UnknownArch),
			Hint:    "memwall fit still gives its weights, exactly"}
	}
	m := r.Model
	if m == nil {
		m = r.Spec.Model(r.ID)
	}
	c := describe(m)
	c.Name, c.Hub, c.Source = r.Name, r.Hub, r.Provenance
	if c.Reference = ref; r.Format == "catalog" {
		c.Reference = r.ID
	}
	if e, err := catalog.Find(r.ID); err == nil && e.ID == r.ID {
		c.Aliases, c.Released = e.Aliases, e.Released
	}
	c.Caches = caches(src, ref, m.Context)
	c.Weights = weights(r, m)
	return c, nil
}

func describe(m *model.Model) *Model {
	t := m.Totals()
	c := &Model{ModelRow: row(m), Architecture: m.Arch, Family: m.Family, Hidden: m.Hidden, Vocabulary: m.Vocab,
		Heads: m.Traits.Heads, KVHeads: m.Traits.KVHeads, Experts: m.Traits.Experts, ExpertsUsed: m.Traits.ExpertsUsed,
		Tied: m.Tied, Embeddings: t.Embeddings, MTP: t.MTP, TiedHead: t.TiedHead}
	if m.Native != nil {
		c.Native = m.Native.Name
	}
	if m.Part(family.PartDenoiser) != nil {
		c.Pass = &Pass{imageTokens, textTokens, m.Pass(imageTokens, textTokens)}
	}
	d := m.Decoder()
	for i := range d.Kinds {
		k := &d.Kinds[i]
		c.Layers = append(c.Layers, LayerKind{k.Name, d.Counts[i]})
		k.Caches(func(x model.Cache) {
			if x.Class != model.LatentKV {
				c.HeadDim = max(c.HeadDim, x.DimK)
			}
		})
	}
	for i := range m.Parts[1:] {
		p := &m.Parts[1+i]
		c.Towers = append(c.Towers, LayerKind{p.Name, p.Params()})
	}
	return c
}

// caches asks what one sequence takes, at 8k and at the trained length.
func caches(src memwall.ModelSource, ref string, trained int64) (out []CacheAt) {
	lengths := []int64{8192, trained}
	if trained > 0 && trained <= 8192 {
		lengths = lengths[1:]
	}
	for _, n := range lengths {
		if n <= 0 {
			continue
		}
		r := &memwall.Request{Ask: "fit", Model: ref, Hardware: "name=any,memory=1PiB"}
		r.Engine, r.KV = "generic", "bf16"
		r.Context = plan.Int(n)
		a, err := (&memwall.Asker{Models: src}).Ask(r)
		if err != nil {
			continue
		}
		out = append(out, CacheAt{n, a.Devices[0].Sum("kv_cache", "state")})
	}
	return out
}

// common are the formats that a card shows, widest first.
var common = []string{"bf16", "q8_0", "fp8", "q6_k", "q4_k_m", "awq", "mxfp4", "q2_k"}

func weights(r *memwall.Resolved, m *model.Model) (out []StoredIn) {
	if r.Weights != nil {
		out = append(out, stored(m, r.Weights, r.Weights.Name, true))
	}
	if r.Spec == nil {
		return out
	}
	published := r.Recipe
	if published == "" && m.Native != nil {
		published = m.Native.Name
	}
	names := common
	if dtype.FindRecipe(published) != nil && !slices.Contains(names, published) {
		names = append([]string{published}, names...)
	}
	converted := r.Spec.Converted().Model(r.ID)
	for _, name := range names {
		recipe := dtype.FindRecipe(name)
		if name == "mxfp4" && m.Traits.Experts == 0 {
			continue
		}
		of := r.Spec.Model(r.ID)
		if recipe.Store == dtype.GGUF {
			of = converted
		}
		out = append(out, stored(of, of.Store(recipe), name, name == published && r.Weights == nil))
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Bytes > out[j].Bytes })
	return out
}

func stored(m *model.Model, w *model.Weights, name string, published bool) StoredIn {
	return StoredIn{Recipe: name, Bytes: w.Bytes(), Bits: m.Bits(w), Published: published}
}
