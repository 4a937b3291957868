package family

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
)

// altUp builds a Gemma 3n layer: AltUp streams (arXiv:2301.13310) of which one goes through a sandwich
// layer with a learned augmented residual (LAuReL, arXiv:2411.07501), then a per-layer input.
func (b *layerBuilder) altUp() {
	n, h := b.l.AltUp, b.h
	router := []*model.Tensor{vector(dtype.AltupRouterNorm, h, model.Whole, 0), fixed(dtype.AltupRouter, n, h), fixed(dtype.AltupPredictCoef, n*n, n)}
	predicted := b.op(model.Op{Kind: model.Mix, Role: dtype.AltupPredictCoef, Out: n * h, W: router}, 0)
	active := b.slice(predicted, h, 0, h)
	x := b.norm(RMS, dtype.AttnNorm, active, h)
	laurel := b.laurel(x)
	o := b.norm(RMS, dtype.AttnPostNorm, b.gather(b.attention(x), h), h)
	r := b.scale(b.add(b.add(o, active, h), laurel, h), h)
	f := b.norm(RMS, dtype.FFNPostNorm, b.mlp(b.norm(RMS, dtype.FFNNorm, r, h), b.l.FFN), h)
	activated := b.add(f, r, h)
	corrected := b.op(model.Op{Kind: model.Mix, Role: dtype.AltupCorrectCoef, Out: n * h,
		W: []*model.Tensor{fixed(dtype.AltupCorrectCoef, n, n), vector(dtype.AltupCorrectScale, h, model.Whole, 0)}}, activated, predicted)
	first := b.perLayerBranch(b.slice(corrected, h, 0, h))
	b.add(corrected, first, n*h)
}

func (b *layerBuilder) laurel(x model.Val) model.Val {
	y := b.linear(x, fixed(dtype.LaurelL, b.l.Laurel, b.h), false)
	y = b.linear(y, fixed(dtype.LaurelR, b.h, b.l.Laurel), false)
	return b.add(b.norm(RMS, dtype.LaurelPostNorm, y, b.h), x, b.h)
}

// perLayer adds the per-layer input to the stream (Gemma 4).
func (b *layerBuilder) perLayer(x model.Val) model.Val {
	return b.add(b.perLayerBranch(x), x, b.h)
}

func (b *layerBuilder) perLayerBranch(x model.Val) model.Val {
	p := b.l.PLE
	g := b.act(model.GELU, b.linear(x, matrix(dtype.PerLayerGate, whole(p), whole(b.h)), false))
	y := b.linear(g, matrix(dtype.PerLayerOut, whole(b.h), whole(p)), false)
	return b.norm(RMS, dtype.PerLayerPostNorm, y, b.h)
}

// fixed is a small matrix that no adapter targets and no rank cuts.
func fixed(role dtype.Role, rows, cols int64) *model.Tensor {
	t := matrix(role, whole(rows), whole(cols))
	t.Adapt = false
	return t
}
