package speed

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/unit"
)

// Kernel is an operator of a layer as one rank runs it, and how many layers run it.
type Kernel struct {
	Op    *model.Op // the rank's share: its heads, its rows
	Count int64     // times in a step
	Layer int       // which variant of layer it belongs to: an index of the rank's kinds, model.InPre or model.InPost
	// Of its matrices: how they are stored, their rows together, their columns, and how many there are (experts
	// held). Bytes are stored, of one layer.
	Scheme     *dtype.Scheme
	Rows, Cols int64
	Batch      int64
	Bytes      unit.Bytes
	Decode     model.Coeffs // of sequences that go on by a token; MLA multiplies through its latent
	Prefill    model.Coeffs // of prompts; MLA expands its latent
	Attn       *model.Attn
	Scan       *model.ScanDims
	Moe        *model.Experts
}

// Rank is the work of one rank.
type Rank struct {
	Kernels []Kernel
	Layers  int64
	// Spans are the windows that Points are told of; Moe the experts, nil without.
	Spans []int64
	Moe   *model.Experts
	// Weights are the stored bytes of all kernels; Sparse says that some layers choose what they read in a way
	// that is not described, and read the whole cache here.
	Weights unit.Bytes
}

// Kernels lists what a rank of the decoder runs in a step, in order. Widths of activations, cache and states
// are e's; its spans are filled in.
func Kernels(m *model.Model, pl *engine.Placed, e model.Exec) *Rank {
	e.Spans = m.Spans()
	r := &Rank{Layers: int64(pl.Last - pl.First), Spans: e.Spans}
	b := &builder{rank: r, exec: e, stored: map[*model.Tensor]engine.WeightTensor{}}
	for _, g := range pl.WeightGroups() {
		for _, t := range g.Tensors {
			b.stored[t.Tensor] = t
		}
	}
	if pl.Pre {
		b.kind(&pl.Part.Pre, pl, nil, 1, model.InPre)
	}
	b.layers(pl)
	if pl.Post {
		b.kind(&pl.Part.Post, pl, nil, 1, model.InPost)
	}
	return r
}

type builder struct {
	rank   *Rank
	exec   model.Exec
	stored map[*model.Tensor]engine.WeightTensor
}

// layers may be stored differently, so each variant brings its own bytes.
func (b *builder) layers(pl *engine.Placed) {
	groups := pl.WeightGroups()
	if pl.Pre {
		groups = groups[1:]
	}
	for i := range pl.Kinds {
		k := &pl.Kinds[i]
		for _, t := range groups[i].Tensors {
			b.stored[t.Tensor] = t
		}
		b.kind(&pl.Part.Kinds[pl.Weights.Variants[k.Variant].Kind], pl, k.Kind, k.Count, i)
	}
}

// kind adds the operators of a whole kind, as its local share runs them.
func (b *builder) kind(whole *model.Kind, pl *engine.Placed, local *model.Kind, count int64, layer int) {
	if local == nil {
		local = whole
		if pl.Parallel.TP > 1 || pl.Parallel.EP > 1 {
			l := pl.Parallel.Kind(whole, pl.Coord)
			local = &l
		}
	}
	for i := range local.Ops {
		b.op(&whole.Ops[i], &local.Ops[i], count, layer)
	}
}

func (b *builder) op(whole, local *model.Op, count int64, layer int) {
	k := Kernel{Op: local, Count: count, Layer: layer, Attn: local.Attn, Scan: local.Scan, Moe: local.Moe}
	for i, t := range whole.W {
		s := b.stored[t]
		k.Bytes += s.Local
		if l := local.W[i]; !t.Bias && t.Dims > 1 {
			k.Scheme, k.Batch = s.Scheme, l.Batch
			k.Rows += l.Rows()
			k.Cols = l.Cols
		}
	}
	bytes := func(i int) unit.Bytes { return b.stored[whole.W[i]].Local }
	e := b.exec
	e.Absorb = false
	k.Prefill = local.Coeffs(&e, bytes)
	e.Absorb = true
	k.Decode = local.Coeffs(&e, bytes)
	if k.Moe != nil && b.rank.Moe == nil {
		b.rank.Moe = k.Moe
	}
	b.rank.Weights += unit.Bytes(count) * k.Bytes
	b.rank.Kernels = append(b.rank.Kernels, k)
}

// Merge joins matrix products that read the same value in the same format, as engines that fuse queries, keys
// and values, or gate and up, launch them once.
func Merge(list []Kernel) (out []Kernel) {
	for i := range list {
		k := list[i]
		if n := len(out) - 1; n >= 0 && joins(&out[n], &k) {
			join(&out[n], &k)
			continue
		}
		out = append(out, k)
	}
	return out
}

func joins(a, b *Kernel) bool {
	return a.Op.Kind == b.Op.Kind && (a.Op.Kind == model.Linear || a.Op.Kind == model.ExpertLinear) && a.Layer == b.Layer &&
		a.Op.In == b.Op.In && a.Cols == b.Cols && a.Scheme == b.Scheme && a.Batch == b.Batch
}

func join(a, b *Kernel) {
	a.Rows += b.Rows
	a.Bytes += b.Bytes
	a.Decode.AddN(&b.Decode, 1)
	a.Prefill.AddN(&b.Prefill, 1)
}
