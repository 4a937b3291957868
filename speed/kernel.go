package speed

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/unit"
)

// Kernel is an operator of a layer as run by one rank, with the number of layers that run it.
type Kernel struct {
	Op    *model.Op // the rank's share of heads and rows
	Count int64     // runs per step
	Layer int       // variant of the layer: an index of the rank's kinds, model.InPre or model.InPost
	// Storage scheme of the kernel's matrices, their total rows, their columns, and their number (experts held). Bytes
	// is the stored size per layer.
	Scheme     *dtype.Scheme
	Rows, Cols int64
	Batch      int64
	Bytes      unit.Bytes
	Decode     model.Coeffs  // of decoding sequences; MLA is absorbed
	Expanded   *model.Coeffs // of prompts, if different: MLA expands its latent; else nil
	Attn       *model.Attn
	Scan       *model.ScanDims
	Moe        *model.Experts
	// Joined are the operators that a Fuser combined, in order; empty if not fused.
	Joined [MaxJoined]Member
}

// MaxJoined is the maximum number of members of a fused kernel: queries, keys, values, and two gates.
const MaxJoined = 5

// Member is an operator within a fused kernel: Rows of its matrix.
type Member struct {
	Role dtype.Role
	Rows int64
}

// Members returns the members of a matmul; one if it is not fused.
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

// Prefill returns the coefficients for prompts.
func (k *Kernel) Prefill() *model.Coeffs {
	if k.Expanded != nil {
		return k.Expanded
	}
	return &k.Decode
}

// Rank is the work of one rank.
type Rank struct {
	Layers int64
	// Spans are the attention windows for Points; Moe describes the experts, nil if none.
	Spans []int64
	Moe   *model.Experts
	// Weights is the stored size of all kernels.
	Weights unit.Bytes
	// Sums over all kernels: dense of those that do not distinguish tokens, decode and prefill of attention and scans.
	// Routed is the bytes of experts among them.
	dense, decode, prefill model.Coeffs
	routed                 model.Features
}

// Walk calls f for every kernel that a rank of the decoder runs in a step, in order, and returns their sum. Widths of
// activations, cache and states are taken from e, whose spans are filled in. f may modify the kernel, which is valid
// only during the call. A nil f computes just the sum.
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

// Kernels returns the rank and the list of its kernels.
func Kernels(m *model.Model, pl *engine.Placed, e model.Exec) (r *Rank, list []Kernel) {
	r = Walk(m, pl, e, func(k *Kernel) { list = append(list, *k) })
	return r, list
}

// before returns the tensors before the layers, of which later stages hold copies if they borrow them.
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
	ends []engine.WeightTensor // tensors before the layers, where a tied head finds its weights
}

// kind adds the operators of a kind as the rank's share runs them. stored are its tensors in order, then those it
// borrows.
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

// lent returns the stored tensors that an operator borrows.
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
			return 0 // borrowed from the stage that holds it (rotary tables), of negligible size
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

// add adds a kernel to the sums.
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

// Fuser combines consecutive matmuls that read the same value in the same format, as engines that fuse queries, keys
// and values, or gate and up, launch them, and passes the results to To.
type Fuser struct {
	To   func(*Kernel)
	held Kernel
	full bool
}

// Add adds the next kernel.
func (f *Fuser) Add(k *Kernel) {
	if f.full && joins(&f.held, k) {
		join(&f.held, k)
		return
	}
	f.Flush()
	f.held, f.full = *k, true
}

// Flush passes on the pending kernel.
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

// remember records b as a member of a; if there is no space left, as part of the last member.
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
