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
	Decode     model.Coeffs  // of sequences that go on by a token; MLA multiplies through its latent
	Expanded   *model.Coeffs // of prompts where these differ: MLA expands its latent; else nil
	Attn       *model.Attn
	Scan       *model.ScanDims
	Moe        *model.Experts
	// Joined are the operators that a Fuser made it of, in order; none when it is one alone.
	Joined [MaxJoined]Member
}

// MaxJoined is how many operators of a fused one are remembered: queries, keys, values, and two gates.
const MaxJoined = 5

// Member is an operator that runs as part of a fused one: Rows of its matrix.
type Member struct {
	Role dtype.Role
	Rows int64
}

// Members of a product, one when it is not fused.
func (k *Kernel) Members() []Member {
	for n, m := range k.Joined {
		if m.Rows == 0 && n > 0 {
			return k.Joined[:n]
		}
		if m.Rows == 0 {
			return []Member{{k.Op.Role, k.Rows}}
		}
	}
	return k.Joined[:]
}

// Prefill is the cost of prompts.
func (k *Kernel) Prefill() *model.Coeffs {
	if k.Expanded != nil {
		return k.Expanded
	}
	return &k.Decode
}

// Rank is the work of one rank.
type Rank struct {
	Layers int64
	// Spans are the windows that Points are told of; Moe the experts, nil without.
	Spans []int64
	Moe   *model.Experts
	// Weights are the stored bytes of all kernels.
	Weights unit.Bytes
	// The work of all kernels together: of those that do not tell tokens apart, and of attention and scans of decoding
	// and of prompts. Routed are the bytes of experts among it.
	dense, decode, prefill model.Coeffs
	routed                 model.Features
}

// Walk gives f what a rank of the decoder runs in a step, in order, and the sum of it all. Widths of activations, cache
// and states are e's; its spans are filled in. A kernel is f's to change, and lasts until f returns;
// a nil f wants the sum alone.
func Walk(m *model.Model, pl *engine.Placed, e model.Exec, f func(*Kernel)) *Rank {
	e.Spans = m.Spans()
	r := &Rank{Layers: int64(pl.Last - pl.First), Spans: e.Spans}
	b := &builder{rank: r, exec: e, to: f}
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

// Kernels are the rank and the list of what it runs.
func Kernels(m *model.Model, pl *engine.Placed, e model.Exec) (r *Rank, list []Kernel) {
	r = Walk(m, pl, e, func(k *Kernel) { list = append(list, *k) })
	return r, list
}

// before are the tensors in front of the layers, of which later stages have copies where they borrow them.
func before(pl *engine.Placed) []engine.WeightTensor {
	first := *pl
	first.Pre = true
	return first.WeightGroups()[0].Tensors
}

type builder struct {
	rank *Rank
	exec model.Exec
	to   func(*Kernel)
	next Kernel
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
	k := &b.next
	*k = Kernel{Op: local, Count: count, Layer: layer, Attn: local.Attn, Scan: local.Scan, Moe: local.Moe}
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
	local.Into(&k.Decode, &e, bytes)
	if k.Attn != nil && k.Attn.Latent != nil {
		e.Absorb = false
		k.Expanded = new(model.Coeffs)
		local.Into(k.Expanded, &e, bytes)
	}
	b.rank.add(k)
	if b.to != nil {
		b.to(k)
	}
}

// add a kernel to the sums.
func (r *Rank) add(k *Kernel) {
	n := float64(k.Count)
	if k.Moe != nil && r.Moe == nil {
		r.Moe = k.Moe
	}
	r.Weights += unit.Bytes(k.Count) * k.Bytes
	if k.Attn != nil || k.Scan != nil {
		r.decode.AddN(&k.Decode, n)
		r.prefill.AddN(k.Prefill(), n)
		return
	}
	r.dense.AddN(&k.Decode, n)
	if k.Op.Kind == model.ExpertLinear {
		for i := range r.routed {
			r.routed[i] += n * k.Decode.Weights[i]
		}
	}
}

// Fuser joins matrix products that read the same value in the same format and follow each other, as engines that fuse
// queries, keys and values, or gate and up, launch them once, and gives To what came of it.
type Fuser struct {
	To   func(*Kernel)
	held Kernel
	full bool
}

// Add the next kernel.
func (f *Fuser) Add(k *Kernel) {
	if f.full && joins(&f.held, k) {
		join(&f.held, k)
		return
	}
	f.Flush()
	f.held, f.full = *k, true
}

// Flush gives To what is left.
func (f *Fuser) Flush() {
	if f.full {
		f.To(&f.held)
	}
	f.full = false
}

func joins(a, b *Kernel) bool {
	return a.Op.Kind == b.Op.Kind && (a.Op.Kind == model.Linear || a.Op.Kind == model.ExpertLinear) && a.Layer == b.Layer &&
		a.Op.In == b.Op.In && a.Cols == b.Cols && a.Scheme == b.Scheme && a.Batch == b.Batch && a.Op.Rows == b.Op.Rows
}

func join(a, b *Kernel) {
	remember(a, b)
	a.Rows += b.Rows
	a.Bytes += b.Bytes
	a.Decode.AddN(&b.Decode, 1)
}

// remember that b is part of a; what there is no room for counts as part of the last one.
func remember(a, b *Kernel) {
	if a.Joined[0].Rows == 0 {
		a.Joined[0] = Member{a.Op.Role, a.Rows}
	}
	for i := range a.Joined {
		if m := &a.Joined[i]; m.Rows == 0 {
			*m = Member{b.Op.Role, b.Rows}
			return
		}
	}
	a.Joined[MaxJoined-1].Rows += b.Rows
}
