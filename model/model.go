// Package model describes a network once: parts made of kinds of layers, kinds made of operators over values, operators
// with their tensors. Parameters, weight bytes, KV cache and recurrent state, activations, FLOPs, memory traffic,
// shards and compute graphs are all derived from that one description; no other package knows what a layer contains.
//
// model.go has the containers, op.go the operators, tensor.go the tensors. cost.go holds the formulas of work and
// traffic, cache.go those of what is kept between tokens, saved.go those of what training keeps for the backward pass,
// and weights.go how tensors are stored. Package model/family builds a Model from a config.json or a GGUF header.
package model

import "github.com/memwall/memwall/dtype"

// Model is a network. Parts[0] is the decoder (the encoder, if there is no decoder); further parts are vision towers,
// draft heads and the like.
type Model struct {
	ID      string // catalog id, file name or hub id
	Arch    string // as named by the config or GGUF file
	Family  string // family that built it, by its GGUF name: "llama", "qwen3moe"
	Vocab   int64
	Hidden  int64
	Context int64 // trained context in tokens; 0 if not stated
	Tied    bool  // the head reads the embedding table
	Parts   []Part
	Native  *dtype.Format // weight format stated by the config
	State   *dtype.Format // format of recurrent states stated by the config; nil if not stated
	Rotary  []Rotary      // precomputed rotary tables, if the config gives their sizes
	Traits  Traits
}

// Rotary is a table of cosines and sines with Positions rows of Dim elements.
type Rotary struct{ Positions, Dim int64 }

// Traits are facts about a model that individual engine rules and recipes depend on.
type Traits struct {
	Heads, KVHeads int64 // of the first attention layer; 0 if none
	Experts        int64 // routed experts of a MoE layer; 0 when dense
	ExpertsUsed    int64
	Hybrid         bool // mixes attention and recurrent layers
	Multimodal     bool
	ImageTokens    int64 // tokens per image; 0 if it depends on the image's size
	Trailing       int   // prediction layers that a GGUF file stores after the others; not part of this model
}

// Part is a stack of layers with the operators before and after it. Layers of the same structure share a Kind;
// Layers[i] is the index of layer i's kind.
type Part struct {
	Name   string // "decoder", "mtp", "vision", …
	Pre    Kind   // embedding and what follows
	Post   Kind   // final norm, head
	Kinds  []Kind
	Layers []uint8
	Counts []int64 // layers of each kind
	// Speaks reports that the part synthesizes audio from the decoder's output; text engines skip it.
	Speaks bool
}

// Kind is one layer structure: a sequence of operators. Value 0 is the stream entering the layer, value i the result of
// Ops[i-1], and Out the stream leaving it. In a part's Pre, Side is the value that its layers read as Side, 0 for none.
type Kind struct {
	Name string
	Ops  []Op
	Out  Val
	Side Val
}

// Decoder returns the part that generates tokens.
func (m *Model) Decoder() *Part { return &m.Parts[0] }

// Part returns the part with the given name, or nil.
func (m *Model) Part(name string) *Part {
	for i := range m.Parts {
		if m.Parts[i].Name == name {
			return &m.Parts[i]
		}
	}
	return nil
}

// Samples reports whether the model ends in logits over its vocabulary, as embedding models and classifiers do not.
func (m *Model) Samples() bool {
	ops := m.Parts[0].Post.Ops
	for i := range ops {
		if ops[i].Kind == Head {
			return true
		}
	}
	return false
}

// Count computes Counts from Layers.
func (p *Part) Count() {
	p.Counts = make([]int64, len(p.Kinds))
	for _, k := range p.Layers {
		p.Counts[k]++
	}
}

// Each calls f for every kind of the part, including Pre and Post, with the number of layers of that kind.
func (p *Part) Each(f func(k *Kind, count int64)) {
	f(&p.Pre, 1)
	for i := range p.Kinds {
		f(&p.Kinds[i], p.Counts[i])
	}
	f(&p.Post, 1)
}

// Layer numbers of tensors outside the layers.
const (
	InPre  = -1
	InPost = -2
)

// Tensors calls f for every tensor that the part owns, in order, with its layer or InPre or InPost.
func (p *Part) Tensors(f func(layer int, t *Tensor)) {
	p.Pre.owned(func(t *Tensor) { f(InPre, t) })
	for l, k := range p.Layers {
		p.Kinds[k].owned(func(t *Tensor) { f(l, t) })
	}
	p.Post.owned(func(t *Tensor) { f(InPost, t) })
}

func (k *Kind) owned(f func(*Tensor)) {
	for i := range k.Ops {
		if k.Ops[i].Lent {
			continue
		}
		for _, t := range k.Ops[i].W {
			f(t)
		}
	}
}

// Params returns the number of parameters that a kind owns, excluding stored tables that are not learned.
func (k *Kind) Params() (n int64) {
	k.owned(func(t *Tensor) {
		if !t.Table {
			n += t.Elems()
		}
	})
	return n
}

// Params returns the number of parameters of the part.
func (p *Part) Params() (n int64) {
	p.Each(func(k *Kind, count int64) { n += count * k.Params() })
	return n
}

// Params returns the number of parameters of the model, each learned number counted once. A tied head adds nothing and
// multi-token prediction (MTP) layers are excluded; Totals has the other ways to count.
func (m *Model) Params() (n int64) {
	for i := range m.Parts {
		if m.Parts[i].Name != PartMTP {
			n += m.Parts[i].Params()
		}
	}
	return n
}

// PartMTP is the name of the part with multi-token prediction layers.
const PartMTP = "mtp"

// PartEncoder is the name of the encoder of an encoder-decoder.
const PartEncoder = "encoder"

// Totals breaks down the ways in which published parameter counts differ.
type Totals struct {
	Unique     int64 // each learned number once, without MTP, as in Params
	MTP        int64 // in multi-token prediction layers
	TiedHead   int64 // duplicated by files that store a tied head separately
	Embeddings int64 // token embedding and untied head
	Head       int64 // untied head, which embedding models omit
	RouterBias int64 // biases used only to choose experts, which some files store as buffers
}

// Totals returns the parameter counts.
func (m *Model) Totals() Totals {
	t := Totals{Unique: m.Params()}
	if p := m.Part(PartMTP); p != nil {
		t.MTP = p.Params()
	}
	m.Decoder().Each(func(k *Kind, count int64) {
		for i := range k.Ops {
			t.add(&k.Ops[i], count)
		}
	})
	t.Embeddings += t.Head
	return t
}

func (t *Totals) add(o *Op, count int64) {
	switch {
	case o.Kind == Embed && o.Lent: // a draft model's, shared with its target
	case o.Kind == Head && o.Lent:
		t.TiedHead = o.W[0].Elems()
	case o.Kind == Head:
		t.Head = o.W[0].Elems()
	case o.Kind == Embed:
		t.Embeddings += o.W[0].Elems()
	case o.Kind == Route && o.Moe.Bias:
		t.RouterBias += count * o.Moe.N
	}
}

// ActiveParams returns the number of parameters used per token: all but unchosen experts and parameters for other
// modalities. The token embedding counts in full, as in Params; of further embedding tables (per layer in Gemma 3n,
// n-gram in Qwen3.8 Flash Next) one row counts.
func (m *Model) ActiveParams() (n int64) {
	for i := range m.Parts {
		if m.Parts[i].Name == PartMTP {
			continue
		}
		m.Parts[i].Each(func(k *Kind, count int64) { n += count * k.active() })
	}
	return n
}

func (k *Kind) active() (n int64) {
	for i := range k.Ops {
		o := &k.Ops[i]
		if o.Lent || o.Rows == PerOther {
			continue
		}
		if o.Role == dtype.PerLayerEmbd { // one row: vendors exclude the rest from "active" and "effective" sizes
			n += o.Out
			continue
		}
		for _, t := range o.W {
			e := t.Elems()
			if o.Moe != nil && t.BatchBy == ByExpert {
				e = e / o.Moe.N * o.Moe.Used
			}
			if !t.Table {
				n += e
			}
		}
	}
	return n
}
