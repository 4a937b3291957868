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
	r := &Rank{Layers: int64(pl.Last - pl.First), Spans: e.Spans, Kernels: make([]Kernel, 0, operators(pl))}
	b := &builder{rank: r, exec: e}
	groups := pl.WeightGroups()
	if pl.Pre {
		b.ends = groups[0].Tensors
		b.kind(&pl.Part.Pre, pl, nil, groups[0].Tensors, 1, model.InPre)
		groups = groups[1:]
	} else {
		b.ends = before(pl)
	}
	for i := range pl.Kinds {
		k := &pl.Kinds[i]
		b.kind(&pl.Part.Kinds[pl.Weights.Variants[k.Variant].Kind], pl, k.Kind, groups[i].Tensors, k.Count, i)
	}
	if pl.Post {
		b.kind(&pl.Part.Post, pl, nil, groups[len(groups)-1].Tensors, 1, model.InPost)
	}
	return r
}

// before are the tensors in front of the layers, of which later stages have copies where they borrow them.
func before(pl *engine.Placed) []engine.WeightTensor {
	first := *pl
	first.Pre = true
	return first.WeightGroups()[0].Tensors
}

func operators(pl *engine.Placed) int {
	n := len(pl.Part.Pre.Ops) + len(pl.Part.Post.Ops)
	for i := range pl.Kinds {
		n += len(pl.Kinds[i].Kind.Ops)
	}
	return n
}

type builder struct {
	rank *Rank
	exec model.Exec
	ends []engine.WeightTensor // before the layers, where a tied head finds its weights
}

// kind adds the operators of a whole kind, as its local share runs them; stored are its tensors in order, then
// those that are lent to it.
func (b *builder) kind(whole *model.Kind, pl *engine.Placed, local *model.Kind, stored []engine.WeightTensor, count int64, layer int) {
	if local == nil {
		local = whole
		if pl.Parallel.TP > 1 || pl.Parallel.EP > 1 {
			l := pl.Parallel.Kind(whole, pl.Coord)
			local = &l
		}
	}
	all := stored
	for i := range local.Ops {
		if whole.Ops[i].Lent {
			b.op(&local.Ops[i], b.lent(whole.Ops[i].W, all), count, layer)
			continue
		}
		n := len(whole.Ops[i].W)
		b.op(&local.Ops[i], stored[:n], count, layer)
		stored = stored[n:]
	}
}

// lent finds the stored tensors of an operator that borrows them.
func (b *builder) lent(want []*model.Tensor, stored []engine.WeightTensor) (out []engine.WeightTensor) {
	for _, t := range want {
		for _, list := range [][]engine.WeightTensor{b.ends, stored} {
			for i := range list {
				if list[i].Tensor == t && len(out) < len(want) {
					out = append(out, list[i])
				}
			}
		}
	}
	return out
}

func (b *builder) op(local *model.Op, stored []engine.WeightTensor, count int64, layer int) {
	b.rank.Kernels = append(b.rank.Kernels, Kernel{Op: local, Count: count, Layer: layer, Attn: local.Attn, Scan: local.Scan, Moe: local.Moe})
	k := &b.rank.Kernels[len(b.rank.Kernels)-1]
	for i := range stored {
		s := &stored[i]
		t := s.Tensor
		k.Bytes += s.Local
		if l := local.W[i]; !t.Bias && t.Dims > 1 {
			k.Scheme, k.Batch = s.Scheme, l.Batch
			k.Rows += l.Rows()
			k.Cols = l.Cols
		}
	}
	bytes := func(i int) unit.Bytes {
		if i >= len(stored) {
			return 0 // lent by a stage that holds it (rotary tables), and of no weight
		}
		return stored[i].Local
	}
	e := b.exec
	e.Absorb = true
	k.Decode = local.Coeffs(&e, bytes)
	if k.Prefill = k.Decode; k.Attn != nil && k.Attn.Latent != nil {
		e.Absorb = false
		k.Prefill = local.Coeffs(&e, bytes)
	}
	if k.Moe != nil && b.rank.Moe == nil {
		b.rank.Moe = k.Moe
	}
	b.rank.Weights += unit.Bytes(count) * k.Bytes
}

// Merge joins matrix products that read the same value in the same format, as engines that fuse queries, keys
// and values, or gate and up, launch them once. It works in the list's own memory.
func Merge(list []Kernel) []Kernel {
	n := 0
	for i := range list {
		switch k := &list[i]; {
		case n > 0 && joins(&list[n-1], k):
			join(&list[n-1], k)
		default:
			if n < i {
				list[n] = *k
			}
			n++
		}
	}
	return list[:n]
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
