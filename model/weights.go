package model

import (
	"slices"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/unit"
)

// Stored says how one tensor is stored. Scheme is nil if the file's type is unknown, with Bytes as in the file, or if
// the file lacks the tensor, with Bytes 0.
type Stored struct {
	Scheme *dtype.Scheme
	Bytes  unit.Bytes
}

// Variant is one way in which layers of a kind are stored. Tensors follow the kind's tensor order.
type Variant struct {
	Kind    uint8
	Count   int64
	Tensors []Stored
}

// Bytes returns the size of one layer of the variant.
func (v *Variant) Bytes() (b unit.Bytes) {
	for i := range v.Tensors {
		b += v.Tensors[i].Bytes
	}
	return b
}

// PartWeights is the storage of a Part: Layers[i] is the index of layer i's variant.
type PartWeights struct {
	Pre, Post []Stored
	Variants  []Variant
	Layers    []uint16
}

// Weights is the storage of a Model. It is separate from the model because layers of one structure may be stored
// differently.
type Weights struct {
	Name  string // recipe name, or as stated by the file
	Parts []PartWeights
	// Extra is the bytes of a file's tensors that no operator of the model uses.
	Extra     unit.Bytes
	ExtraName string
}

// Bytes returns the size of all tensors, without padding.
func (w *Weights) Bytes() (b unit.Bytes) {
	for i := range w.Parts {
		b += w.Parts[i].Bytes()
	}
	return b + w.Extra
}

// Bytes returns the size of the part's tensors.
func (p *PartWeights) Bytes() (b unit.Bytes) {
	p.Each(func(_ int, stored []Stored, count int64) {
		for i := range stored {
			b += unit.Bytes(count) * stored[i].Bytes
		}
	})
	return b
}

// Each calls f for the tensors before the layers (variant InPre), for every variant of layer, and for those after
// (InPost), with the number of layers stored so.
func (p *PartWeights) Each(f func(variant int, stored []Stored, count int64)) {
	f(InPre, p.Pre, 1)
	for i := range p.Variants {
		f(i, p.Variants[i].Tensors, p.Variants[i].Count)
	}
	f(InPost, p.Post, 1)
}

// Bits returns the bits per parameter as stored, including scales and prediction layers.
func (m *Model) Bits(w *Weights) float64 {
	return 8 * float64(w.Bytes()) / float64(max(1, m.Params()+m.Totals().MTP))
}

// Facts returns the facts about the model that recipes depend on.
func (m *Model) Facts() *dtype.Facts {
	f := &dtype.Facts{Arch: m.Family, Layers: len(m.Decoder().Layers) + m.Traits.Trailing, Experts: m.Traits.Experts, GQA: 1}
	f.Tied, f.Native = !m.ownHead(), m.Native
	if mtp := m.Part(PartMTP); mtp != nil {
		f.Layers += len(mtp.Layers)
	}
	if m.Traits.KVHeads > 0 {
		f.GQA = m.Traits.Heads / m.Traits.KVHeads
	}
	if m.Traits.Hybrid && !m.attendsAtOnce() && !oneHeadCount[m.Family] {
		f.GQA = 0
	}
	return f
}

// ownHead reports whether files hold a separate output head: encoders and reward models have none, and a tied head is
// the embedding.
func (m *Model) ownHead() (has bool) {
	if p := m.Decoder(); p != nil {
		p.Post.owned(func(t *Tensor) { has = has || t.Role == dtype.Output && !t.Bias })
	}
	return has
}

// oneHeadCount holds the hybrids whose files state one number of KV heads for all layers instead of one per layer.
var oneHeadCount = map[string]bool{"qwen3next": true, "qwen35": true, "qwen35moe": true}

// attendsAtOnce reports whether the first layer has attention.
func (m *Model) attendsAtOnce() bool {
	p := m.Decoder()
	return len(p.Layers) > 0 && slices.ContainsFunc(p.Kinds[p.Layers[0]].Ops, func(o Op) bool { return o.Attn != nil })
}

// Store returns how every tensor of the model is stored under a recipe.
func (m *Model) Store(r *dtype.Recipe) *Weights {
	w := &Weights{Name: r.Name, Parts: make([]PartWeights, len(m.Parts))}
	facts := m.Facts()
	n := m.numbered(r.Store == dtype.GGUF && m.Part(PartEncoder) != nil)
	for i := range m.Parts {
		n.begin(&m.Parts[i], m.Traits.Trailing)
		var s dtype.Site // shared by all tensors: recipes read it and do not retain it
		w.Parts[i] = m.Parts[i].store(func(layer int, t *Tensor) Stored {
			s = dtype.Site{Part: m.Parts[i].Name, Role: t.Role, Bias: t.Bias, Table: t.Table, Dims: t.Dims, Batch: t.Batch, Rows: t.Rows(),
				Cols:  t.Cols,
				Layer: max(layer, -1), Model: facts}
			s.Nth, s.Of = n.next(layer, t.category())
			if r.Store == dtype.GGUF {
				s.Role = t.Name()
			}
			if t.In != nil {
				s.InRows, s.InCols, s.First = t.In.Rows, t.In.Cols, t.First
			}
			return Store(t, r.Pick(&s))
		})
	}
	return w
}

// Store returns how one tensor is stored under a scheme; a nil scheme means not stored.
func Store(t *Tensor, s *dtype.Scheme) Stored {
	if s == nil {
		return Stored{}
	}
	return Stored{Scheme: s, Bytes: t.Stored(s, t.Batch, t.Rows(), t.Cols)}
}

// Stored returns the bytes of batch matrices of rows × cols each. Scales of a tensor that is part of a larger matrix in
// the file are counted pro rata.
func (t *Tensor) Stored(s *dtype.Scheme, batch, rows, cols int64) unit.Bytes {
	if t.In == nil || len(s.With) == 0 {
		return s.Bytes(batch, rows, cols)
	}
	b := unit.Bytes(batch*rows) * s.Elem.Row(cols)
	if t.First && batch > 0 {
		b += s.ScaleBytes(t.In.Rows*batch/t.Batch, t.In.Cols)
	}
	return b
}

// category returns the category of a tensor; vectors have none, because mixtures count only matrices.
func (t *Tensor) category() dtype.Category {
	if t.Dims < 2 {
		return dtype.Other
	}
	return t.Name().Category()
}

// store builds the part's storage by calling get for every tensor, in layer order.
func (p *Part) store(get func(layer int, t *Tensor) Stored) PartWeights {
	var one []Stored // of the current layer; most repeat an earlier one
	ask := func(layer int, k *Kind) []Stored {
		one = one[:0]
		k.owned(func(t *Tensor) { one = append(one, get(layer, t)) })
		return one
	}
	var w PartWeights
	w.Pre = slices.Clone(ask(InPre, &p.Pre))
	w.Layers = make([]uint16, len(p.Layers))
	for l, k := range p.Layers {
		w.Layers[l] = w.variant(k, ask(l, &p.Kinds[k]))
	}
	w.Post = slices.Clone(ask(InPost, &p.Post))
	return w
}

// Stored builds the model's storage by calling get for every tensor with its part and its layer (or InPre, InPost).
func (m *Model) Stored(name string, get func(part *Part, layer int, t *Tensor) Stored) *Weights {
	w := &Weights{Name: name, Parts: make([]PartWeights, len(m.Parts))}
	for i := range m.Parts {
		p := &m.Parts[i]
		w.Parts[i] = p.store(func(layer int, t *Tensor) Stored { return get(p, layer, t) })
	}
	return w
}

func (w *PartWeights) variant(kind uint8, stored []Stored) uint16 {
	for i := range w.Variants {
		if v := &w.Variants[i]; v.Kind == kind && slices.Equal(v.Tensors, stored) {
			v.Count++
			return uint16(i)
		}
	}
	w.Variants = append(w.Variants, Variant{Kind: kind, Count: 1, Tensors: slices.Clone(stored)})
	return uint16(len(w.Variants) - 1)
}
