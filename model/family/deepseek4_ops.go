package family

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
)

// oneKV is attention to one key of all heads, which is its value too, and to rows that stand for several tokens.
func (b *layerBuilder) oneKV(x model.Val) model.Val {
	a := &b.l.Attn
	qa := b.norm(RMS, dtype.AttnQANorm, b.linear(x, matrix(dtype.AttnQA, unsplit(a.QRank), unsplit(b.h)), false), a.QRank)
	q := b.linear(qa, matrix(dtype.AttnQB, heads(a.Heads*a.DimK, a.DimK), unsplit(a.QRank)), false)
	q = b.rope(b.op(model.Op{Kind: model.Norm, Out: a.Heads * a.DimK, Unit: a.DimK}, q), a.DimK)
	kv := b.norm(RMS, dtype.AttnKVNorm, b.linear(x, matrix(dtype.AttnKV, unsplit(a.DimK), unsplit(b.h)), false), a.DimK)
	kv = b.rope(kv, a.DimK)
	at := &model.Attn{Heads: a.Heads, KVHeads: 1, DimK: a.DimK, DimV: a.DimV, Window: a.Window, Sinks: true, OneKV: true, Compress: a.Compress, Chosen: a.Chosen}
	if a.Compress > 0 {
		b.compressed(x, a.DimK, dtype.CompressKV, dtype.CompressGate, dtype.CompressPos, dtype.CompressNorm)
	}
	if i := &a.Index; i.Heads > 0 {
		at.Index = &model.Index{Heads: i.Heads, Dim: i.Dim, Every: a.Compress}
		b.compressed(x, i.Dim, dtype.IndexKV, dtype.IndexGate, dtype.IndexPos, dtype.IndexKNorm)
		b.linear(qa, matrix(dtype.IndexQ, unsplit(i.Heads*i.Dim), unsplit(a.QRank)), false)
		b.linear(x, matrix(dtype.IndexProj, unsplit(i.Heads), unsplit(b.h)), false)
	}
	o := b.op(model.Op{Kind: model.Attention, Out: a.Heads * a.DimV, Attn: at, W: []*model.Tensor{vector(dtype.AttnSinks, a.Heads, model.ByHead, 1)}}, q, kv, kv)
	rank := inner(a.OutGroups * a.OutRank)
	low := b.linear(o, matrix(dtype.AttnOutputA, rank, unsplit(a.Heads*a.DimV/a.OutGroups)), false)
	return b.linear(low, matrix(dtype.AttnOutput, unsplit(b.h), rank), false)
}

// compressed makes one row of several tokens: their rows, weighed by gates and a bias of each place, are summed. Where
// neighbours overlap, each token has a row and a gate for both.
func (b *layerBuilder) compressed(x model.Val, dim int64, kv, gate, pos, norm dtype.Role) {
	wide := dim
	if b.l.Attn.Compress == v4Overlap {
		wide = 2 * dim
	}
	rows := b.linear(x, matrix(kv, unsplit(wide), unsplit(b.h)), false)
	gates := b.linear(x, matrix(gate, unsplit(wide), unsplit(b.h)), false)
	place := matrix(pos, unsplit(b.l.Attn.Compress), unsplit(wide))
	place.Adapt = false
	one := b.op(model.Op{Kind: model.Mix, Role: pos, Out: dim, W: []*model.Tensor{place}}, rows, gates)
	b.norm(RMS, norm, one, dim)
}

// hyperRoles are the tensors of one hyper-connection, and how many weights it gives.
type hyperRoles struct {
	fn, base, mul dtype.Role
	spread        bool // it also gives weights that spread a branch's result over the streams
	mixed         bool // and some that mix the streams with each other
}

var (
	hyperAttn = hyperRoles{dtype.HyperAttn, dtype.HyperAttnBase, dtype.HyperAttnMul, true, true}
	hyperFFN  = hyperRoles{dtype.HyperFFN, dtype.HyperFFNBase, dtype.HyperFFNMul, true, true}
	hyperHead = hyperRoles{fn: dtype.HyperHead, base: dtype.HyperHeadBase, mul: dtype.HyperHeadMul}
)

// hyper is a layer between hyper-connected streams (arXiv:2512.24880): each branch reads a weighted sum of all streams and
// its result is spread over them, by weights that a small projection of the streams gives.
func (b *layerBuilder) hyper() {
	n := b.l.Hyper * b.h
	hyperAttn, hyperFFN := hyperAttn, hyperFFN
	hyperAttn.mixed, hyperFFN.mixed = !b.l.HyperPlain, !b.l.HyperPlain
	o := b.mixer(b.norm(b.l.Norm, dtype.AttnNorm, b.collapse(0, b.l.Hyper, b.h, hyperAttn), b.h))
	r := b.op(model.Op{Kind: model.Mix, Out: n}, 0, b.gather(o, b.h))
	f := b.ffn(b.norm(b.l.Norm, dtype.FFNNorm, b.collapse(r, b.l.Hyper, b.h, hyperFFN), b.h))
	b.op(model.Op{Kind: model.Mix, Out: n}, r, f)
}

// collapse sums the streams to one; a single stream is as it was.
func (b *kindBuilder) collapse(x model.Val, streams, width int64, roles hyperRoles) model.Val {
	if streams <= 1 {
		return x
	}
	weights, factors := streams, int64(1)
	if roles.spread {
		weights, factors = weights+streams, factors+1
	}
	if roles.mixed {
		weights, factors = weights+streams*streams, factors+1
	}
	fn := matrix(roles.fn, unsplit(weights), unsplit(streams*width))
	fn.Adapt = false
	w := []*model.Tensor{fn, vector(roles.base, weights, model.Whole, 0), vector(roles.mul, factors, model.Whole, 0)}
	return b.op(model.Op{Kind: model.Mix, Role: roles.fn, Out: width, W: w}, x)
}
