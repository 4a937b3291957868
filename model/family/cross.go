package family

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
)

// cross is attention over an encoder's output (arXiv:1706.03762, section 3.2.3): keys and values are made once
// of every token of the source.
func (b *layerBuilder) cross(x model.Val) model.Val {
	a := &b.l.Cross
	q := b.linear(x, matrix(dtype.CrossQ, heads(a.Heads*a.DimK, a.DimK), unsplit(b.h)), a.BiasQ)
	k := b.ofSource(dtype.CrossK, a.KVHeads*a.DimK, a.DimK, a.BiasKV && !a.NoBiasK)
	v := b.ofSource(dtype.CrossV, a.KVHeads*a.DimV, a.DimV, a.BiasKV)
	if a.QKNorm == PerHead {
		q, k = b.headNorm(dtype.CrossQNorm, q, a.DimK), b.headNorm(dtype.CrossKNorm, k, a.DimK)
		b.k.Ops[k-1].Rows = model.PerSource
	}
	o := b.op(model.Op{Kind: model.Attention, Out: a.Heads * a.DimV, Attn: &model.Attn{Heads: a.Heads, KVHeads: a.KVHeads, DimK: a.DimK, DimV: a.DimV,
		CrossEncoder: true, Source: a.Source}}, q, k, v)
	return b.linear(o, matrix(dtype.CrossOutput, unsplit(b.h), heads(a.Heads*a.DimV, a.DimV)), a.BiasOut)
}

// ofSource maps the encoder's output to keys or values.
func (b *layerBuilder) ofSource(role dtype.Role, rows, unit int64, withBias bool) model.Val {
	x := b.linear(model.None, matrix(role, kvHeads(rows, unit), unsplit(b.l.Cross.Encoder)), withBias)
	b.k.Ops[x-1].Rows = model.PerSource
	return x
}

// sum adds a branch to the residual, and normalises the sum where the layer does.
func (b *layerBuilder) sum(role dtype.Role, x, r model.Val) model.Val {
	y := b.residual(x, r)
	if b.l.Place != AfterSum {
		return y
	}
	return b.norm(b.l.Norm, role, y, b.h)
}

// weighed multiplies a branch by a learned vector, where the layer has one.
func (b *layerBuilder) weighed(role dtype.Role, x model.Val) model.Val {
	if !b.l.LayerScale {
		return x
	}
	return b.scale(x, b.h, vector(role, b.h, model.Whole, 0))
}

// gated multiplies a branch by a learned scalar or vector, where the layer has one.
func (b *layerBuilder) gated(role dtype.Role, x model.Val) model.Val {
	if !b.l.Gates {
		return x
	}
	return b.scale(x, b.h, vector(role, max(1, b.l.GateWidth), model.Whole, 0))
}
