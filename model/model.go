// Package model describes a network once: parts made of kinds of layers, kinds made of operators over
// values, operators with their tensors. Parameters, weight bytes, KV cache and recurrent state,
// activations, FLOPs, memory traffic, shards and the graphs of an engine are all derived from that one
// list; no other package knows what a layer contains.
//
// model.go has the containers, op.go the operators, tensor.go the tensors. cost.go holds the formulas of
// work and traffic, cache.go those of what is remembered between tokens, saved.go those of what training
// keeps for the backward pass, weights.go how the tensors are stored. The families that build a Model
// from a config.json or a GGUF header are in model/family.
package model

import "github.com/memwall/memwall/dtype"

// Model is a network. Parts[0] is the decoder (or, in an encoder-only model, the encoder); further parts
// are towers, draft heads and the like.
type Model struct {
	ID      string // catalog id, file name or hub id
	Arch    string // as the config or the GGUF file names it
	Family  string // the family that built it, under its GGUF name: "llama", "qwen3moe"
	Vocab   int64
	Hidden  int64
	Context int64 // trained context in tokens; 0 when not stated
	Tied    bool  // the head reads the embedding table
	Parts   []Part
	Native  *dtype.Format // what the config says its weights are in
	State   *dtype.Format // what the config wants recurrent states in; nil when it does not say
	Rotary  []Rotary      // rotary tables that engines precompute, when the config tells their sizes
	Traits  Traits
}

// Rotary is a table of cosines and sines: Positions rows of Dim numbers.
type Rotary struct{ Positions, Dim int64 }

// Traits are facts about a model that single rules of engines and recipes ask for.
type Traits struct {
	Heads, KVHeads int64 // of the first attention layer; 0 without attention
	Experts        int64 // routed experts of a MoE layer; 0 when dense
	ExpertsUsed    int64
	Hybrid         bool // attention and recurrent layers mixed
	Multimodal     bool
	ImageTokens    int64 // tokens of one image; 0 when its size decides
	Trailing       int   // prediction layers that a GGUF file holds behind the layers; they are no part of the model here
}

// Part is a stack of layers between what comes before and after it. Layers of the same structure share
// a Kind; Layers[i] is the kind of layer i.
type Part struct {
	Name   string // "decoder", "mtp", "vision", …
	Pre    Kind   // embedding and what follows it
	Post   Kind   // final norm, head
	Kinds  []Kind
	Layers []uint8
	Counts []int64 // layers of each kind
	// Speaks: it makes sound of what the decoder gives; engines of text leave it out.
	Speaks bool
}

// Kind is one structure of layer: operators in order. Value 0 is the stream entering the layer, value i
// the result of Ops[i-1]; Out is the stream leaving it. Side of a part's Pre is what its layers read as
// Side, 0 for nothing.
type Kind struct {
	Name string
	Ops  []Op
	Out  Val
	Side Val
}

// Decoder is the part that generates tokens.
func (m *Model) Decoder() *Part { return &m.Parts[0] }

// Part finds a part by name; nil when the model has none.
func (m *Model) Part(name string) *Part {
	for i := range m.Parts {
		if m.Parts[i].Name == name {
			return &m.Parts[i]
		}
	}
	return nil
}

// Samples reports whether the model ends in logits over its vocabulary. Embedders and classifiers do not.
func (m *Model) Samples() bool {
	ops := m.Parts[0].Post.Ops
	for i := range ops {
		if ops[i].Kind == Head {
			return true
		}
	}
	return false
}

// Count fills Counts from Layers.
func (p *Part) Count() {
	p.Counts = make([]int64, len(p.Kinds))
	for _, k := range p.Layers {
		p.Counts[k]++
	}
}

// Each calls f for every kind of the part, ends included, with how many layers have it.
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

// Params counts the parameters that a kind owns; stored tables that are not learned do not count.
func (k *Kind) Params() (n int64) {
	k.owned(func(t *Tensor) {
		if !t.Table {
			n += t.Elems()
		}
	})
	return n
}

// Params counts the parameters of a part.
func (p *Part) Params() (n int64) {
	p.Each(func(k *Kind, count int64) { n += count * k.Params() })
	return n
}

// Params counts the parameters of the model: every learned number once. A tied head adds nothing, MTP
// (multi-token prediction) layers are not part of it; see ParamsWith for the other ways to count.
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

// PartEncoder is the name of the encoder beside a decoder.
const PartEncoder = "encoder"

// Totals are the ways in which published parameter totals differ.
type Totals struct {
	Unique     int64 // every learned number once, without MTP: what Params gives
	MTP        int64 // in multi-token prediction layers
	TiedHead   int64 // added by files that store a tied head twice
	Embeddings int64 // token embedding and, when it is not tied, head
	Head       int64 // untied head, which embedding models leave out
	RouterBias int64 // biases that only choose experts, which some files keep as buffers
}

// Totals counts the parameters in each way.
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
	case o.Kind == Embed && o.Lent: // a drafter's, which is its target's
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

// ActiveParams counts the parameters that one token multiplies: all but the experts that it does not
// choose, and those of another modality's tokens. An embedding table counts once, as it does in Params; of those that are
// looked up beside it (Gemma 3n's by layers, Qwen3.8 Flash Next's by n-grams) a row.
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
		if o.Role == dtype.PerLayerEmbd { // a row of it: what makers leave out of "active" and "effective" sizes
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
