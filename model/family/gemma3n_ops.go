package family

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
)

// altUp builds a Gemma 3n layer: AltUp streams (arXiv:2301.13310) of which one goes through a sandwich
// layer with a learned augmented residual (LAuReL, arXiv:2411.07501), then a per-layer input. All streams
// are predicted before the layer and corrected by what it did to the first; a small router weighs both.
func (b *layerBuilder) altUp() {
	n, h := b.l.AltUp, b.h
	r := &altUpRouter{norm: vector(dtype.AltupRouterNorm, h, model.Whole, 0), table: fixed(dtype.AltupRouter, n, h)}
	predicted := b.mix(dtype.AltupPredictCoef, n*h, fixed(dtype.AltupPredictCoef, n*n, n), 0, b.modalities(r, b.slice(0, h, 0, 0)))
	active := b.slice(predicted, h, 0, 0)
	x := b.norm(RMS, dtype.AttnNorm, active, h)
	laurel := b.laurel(x)
	o := b.norm(RMS, dtype.AttnPostNorm, b.gather(b.attention(x), h), h)
	res := b.scale(b.add(b.add(o, active, h), laurel, h), h)
	f := b.norm(RMS, dtype.FFNPostNorm, b.mlp(b.norm(RMS, dtype.FFNNorm, res, h), b.l.FFN), h)
	activated := b.add(f, res, h)
	corrected := b.mix(dtype.AltupCorrectCoef, n*h, fixed(dtype.AltupCorrectCoef, n, n), predicted, b.modalities(r, activated), activated)
	first := b.perLayerBranch(b.scale(b.slice(corrected, h, 0, 0), h, vector(dtype.AltupCorrectScale, h, model.Whole, 0)))
	b.mix("", n*h, nil, corrected, first) // every stream but the first gains it
}

// altUpRouter is read twice in a layer.
type altUpRouter struct {
	norm, table *model.Tensor
	owned       bool
}

// modalities weigh the streams.
func (b *layerBuilder) modalities(r *altUpRouter, x model.Val) model.Val {
	y := b.op(model.Op{Kind: model.Norm, Role: r.norm.Role, Out: b.h, W: []*model.Tensor{r.norm}, Lent: r.owned}, x)
	y = b.op(model.Op{Kind: model.Linear, Role: r.table.Role, Out: r.table.Rows(), W: []*model.Tensor{r.table}, Lent: r.owned}, b.scale(y, b.h))
	r.owned = true
	return b.act(model.Tanh, y)
}

func (b *layerBuilder) mix(role dtype.Role, out int64, w *model.Tensor, in ...model.Val) model.Val {
	o := model.Op{Kind: model.Mix, Role: role, Out: out, Unit: b.h}
	if w != nil {
		o.W = []*model.Tensor{w}
	}
	return b.op(o, in...)
}

func (b *layerBuilder) laurel(x model.Val) model.Val {
	y := b.linear(x, fixed(dtype.LaurelL, b.l.Laurel, b.h), false)
	y = b.linear(y, fixed(dtype.LaurelR, b.h, b.l.Laurel), false)
	return b.add(b.norm(RMS, dtype.LaurelPostNorm, y, b.h), x, b.h)
}

// perLayer adds the per-layer input to the stream (Gemma 4).
func (b *layerBuilder) perLayer(x model.Val) model.Val {
	return b.add(x, b.perLayerBranch(x), b.h)
}

// perLayerBranch gates the layer's own part of the per-layer embeddings by the stream.
func (b *layerBuilder) perLayerBranch(x model.Val) model.Val {
	p := b.l.PLE
	g := b.linear(x, matrix(dtype.PerLayerGate, unsplit(p), unsplit(b.h)), false)
	y := b.glu(model.GELU, g, b.slice(model.Side, p, 0, 0), 0)
	y = b.linear(y, matrix(dtype.PerLayerOut, unsplit(b.h), unsplit(p)), false)
	return b.norm(RMS, dtype.PerLayerPostNorm, y, b.h)
}

// fixed is a small matrix that no adapter targets and no rank cuts.
func fixed(role dtype.Role, rows, cols int64) *model.Tensor {
	t := matrix(role, unsplit(rows), unsplit(cols))
	t.Adapt = false
	return t
}
