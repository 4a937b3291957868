package family

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
)

var actFn = map[Activation]model.ActFn{SiLU: model.SiLU, GELU: model.GELU, ReLU2: model.ReLU2, ReLU: model.ReLU, XIELU: model.XIELU, XIELUKnown: model.XIELU}

// mlp is a dense feed-forward block, gated or not.
func (b *layerBuilder) mlp(x model.Val, f MLP) model.Val {
	if f.Shift {
		return b.channelMix(x, f)
	}
	return b.dense(x, f, dtype.FFNGate, dtype.FFNUp, dtype.FFNDown)
}

func (b *layerBuilder) dense(x model.Val, f MLP, gate, up, down dtype.Role) model.Val {
	var p model.Val
	fn := actFn[f.Act]
	switch {
	case f.Gated && f.Fused:
		t := matrix(up, inner(f.Inner), unsplit(b.h))
		t.Segs = append(t.Segs, inner(f.Inner))
		gu := b.linear(x, t, f.Bias)
		p = b.glu(fn, b.slice(gu, f.Inner, 0, f.Inner), b.slice(gu, f.Inner, f.Inner, f.Inner), 0)
	case f.Gated:
		g := b.gate(x, f, gate)
		if f.Sparse {
			g = b.act(model.TopK, g)
		}
		u := b.linear(x, matrix(up, inner(f.Inner), unsplit(b.h)), f.Bias)
		if f.GateTwice {
			fn = model.Identity
		}
		p = b.glu(fn, g, u, 0)
	default:
		p = b.act(fn, b.linear(x, matrix(up, inner(f.Inner), unsplit(b.h)), f.Bias))
		b.learned(f.Act, p)
	}
	if b.l.InnerNorm {
		p = b.norm(b.l.Norm, dtype.FFNSubNorm, p, f.Inner)
	}
	return b.linear(p, matrix(down, unsplit(b.h), inner(f.Inner)), f.Bias || f.BiasDown)
}

// gate of an MLP; one that is gated in turn leaves the activation to its halves.
func (b *layerBuilder) gate(x model.Val, f MLP, role dtype.Role) model.Val {
	t := matrix(role, inner(f.Inner), unsplit(b.h))
	if !f.GateTwice {
		return b.linear(x, t, f.Bias)
	}
	t.Segs = append(t.Segs, inner(f.Inner))
	both := b.linear(x, t, f.Bias)
	return b.glu(actFn[f.Act], b.slice(both, f.Inner, f.Inner, f.Inner), b.slice(both, f.Inner, 0, f.Inner), 0)
}

// learned gives an activation its numbers: xIELU has two (arXiv:2411.13010).
func (b *layerBuilder) learned(a Activation, x model.Val) {
	if a == XIELU {
		b.k.Ops[x-1].W = []*model.Tensor{vector(dtype.ActAlphaP, 1, model.Whole, 0), vector(dtype.ActAlphaN, 1, model.Whole, 0)}
	}
}

// moe is a routed mixture of experts and, beside it, an optional shared expert. The router reads chooser,
// most often the same value.
func (b *layerBuilder) moe(x, chooser model.Val) model.Val {
	m := &b.l.MoE
	e := &model.Experts{N: m.Experts, Used: m.Used, Sigmoid: m.Sigmoid, Bias: m.ChoiceBias, Norm: m.Norm, Scaled: m.Scaled, SoftLate: m.SoftLate, Groups: m.Groups, GroupsUsed: m.GroupsUsed}
	y := b.routed(x, chooser, e)
	b.imageExperts(x, e)
	if m.Shared == 0 {
		return y
	}
	s := b.dense(x, MLP{Inner: m.Shared, Gated: m.Gated, Act: m.Act, GateTwice: m.GateTwice}, dtype.FFNGateSh, dtype.FFNUpSh, dtype.FFNDownSh)
	if m.SharedGate {
		g := matrix(dtype.FFNGateInpSh, unsplit(1), unsplit(b.h))
		g.Dims, g.Adapt = 1, false
		s = b.glu(model.Sigmoid, b.linear(x, g, false), s, 0)
	}
	return b.add(y, s, b.h)
}

func (b *layerBuilder) routed(x, chooser model.Val, e *model.Experts) model.Val {
	m := &b.l.MoE
	r := b.op(model.Op{Kind: model.Route, Role: dtype.FFNGateInp, Out: e.Used, W: b.router(), Moe: e}, chooser)
	width := b.h
	if m.Latent > 0 {
		width = m.Latent
		x = b.linear(x, matrix(dtype.FFNLatentDown, unsplit(width), unsplit(b.h)), false)
	}
	var p model.Val
	fn := actFn[m.Act]
	switch {
	case m.FusedGateUp:
		t := expert(dtype.FFNGateUpExps, e, inner(m.Inner), unsplit(width))
		t.Segs = append(t.Segs, inner(m.Inner))
		gu := b.expertLinear(x, r, t, e)
		p = b.glu(fn, b.choiceSlice(gu, m.Inner, 0, e), b.choiceSlice(gu, m.Inner, m.Inner, e), 0)
	case m.Gated:
		gate := expert(dtype.FFNGateExps, e, inner(m.Inner), unsplit(width))
		if m.GateTwice {
			gate.Segs = append(gate.Segs, inner(m.Inner))
		}
		g := b.expertLinear(x, r, gate, e)
		if m.GateTwice {
			g, fn = b.glu(fn, b.choiceSlice(g, m.Inner, m.Inner, e), b.choiceSlice(g, m.Inner, 0, e), 0), model.Identity
		}
		u := b.expertLinear(x, r, expert(dtype.FFNUpExps, e, inner(m.Inner), unsplit(width)), e)
		p = b.glu(fn, g, u, 0)
	default:
		p = b.act(fn, b.expertLinear(x, r, expert(dtype.FFNUpExps, e, inner(m.Inner), unsplit(width)), e))
	}
	d := b.expertLinear(p, r, expert(dtype.FFNDownExps, e, unsplit(width), inner(m.Inner)), e)
	y := b.op(model.Op{Kind: model.Combine, Out: width, Moe: e, W: b.downScale(e)}, d, r)
	if m.LatentNorm {
		y = b.norm(RMS, dtype.FFNLatentNorm, y, width)
	}
	if m.Latent > 0 {
		y = b.linear(y, matrix(dtype.FFNLatentUp, unsplit(b.h), unsplit(width)), false)
	}
	return y
}

// imageExperts are the experts of tokens of images: their bytes are resident, and a step of text reads none.
func (b *layerBuilder) imageExperts(x model.Val, e *model.Experts) {
	m := b.l.MoE
	if m.Images == 0 {
		return
	}
	out, n := b.k.Out, len(b.k.Ops)
	b.l.MoE.Inner, b.l.MoE.Shared = m.Images, 0
	b.routed(x, x, e)
	b.l.MoE = m
	for i := n; i < len(b.k.Ops); i++ {
		b.k.Ops[i].Rows = model.PerOther
	}
	b.k.Out = out
}

func (b *layerBuilder) router() []*model.Tensor {
	m := &b.l.MoE
	t := matrix(dtype.FFNGateInp, unsplit(m.Experts+m.Zero), unsplit(b.h))
	t.Adapt = false
	w := []*model.Tensor{t}
	if m.Bias {
		w = append(w, bias(t))
	}
	if m.ChoiceBias {
		w = append(w, vector(dtype.ExpProbsB, m.Experts+m.Zero, model.Whole, 0))
	}
	return w
}

// chooser is what Gemma 4's router reads: the residual, normalised and scaled by a constant and a vector.
func (b *layerBuilder) chooser(r model.Val) model.Val {
	n := b.op(model.Op{Kind: model.Norm, Out: b.h}, r)
	return b.scale(b.scale(n, b.h), b.h, vector(dtype.FFNGateInpScl, b.h, model.Whole, 0))
}

func (b *layerBuilder) downScale(e *model.Experts) []*model.Tensor {
	if !b.l.MoE.Beside {
		return nil
	}
	return []*model.Tensor{{Role: dtype.FFNDownScale, Batch: e.N, BatchBy: model.ByExpert, Segs: []model.Seg{unsplit(1)}, Cols: 1, Dims: 1}}
}

func expert(role dtype.Role, e *model.Experts, rows, cols model.Seg) *model.Tensor {
	t := matrix(role, rows, cols)
	t.Batch, t.BatchBy, t.Dims = e.N, model.ByExpert, 3
	return t
}

func (b *layerBuilder) expertLinear(x, route model.Val, t *model.Tensor, e *model.Experts) model.Val {
	w := []*model.Tensor{t}
	if b.l.MoE.Bias {
		w = append(w, bias(t))
	}
	return b.op(model.Op{Kind: model.ExpertLinear, Role: t.Role, Out: t.Rows(), Rows: model.PerChoice, W: w, Moe: e}, x, route)
}

func (b *layerBuilder) choiceSlice(x model.Val, out, off int64, e *model.Experts) model.Val {
	return b.op(model.Op{Kind: model.Slice, Out: out, Off: off, Unit: out, Rows: model.PerChoice, Moe: e}, x)
}
