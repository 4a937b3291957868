package family

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
)

// deltaHeads is Kimi delta attention (arXiv:2510.26692): queries, keys and values of as many heads, each through a short
// convolution; a decay of every channel and a gate of the output, each through a rank of a head's width or one matrix.
func (b *layerBuilder) deltaHeads(x model.Val) model.Val {
	s := &b.l.SSM
	hd := s.Inner / s.Heads
	rows := heads(s.Inner, hd)
	dims := &model.ScanDims{Conv: s.Conv, Inner: s.Inner, State: hd, Heads: s.Heads, HeadDim: hd, Groups: s.Heads, Delta: true}
	q := b.linear(x, matrix(dtype.AttnQ, rows, unsplit(b.h)), false)
	k := b.linear(x, matrix(dtype.AttnK, rows, unsplit(b.h)), false)
	v := b.linear(x, matrix(dtype.AttnV, rows, unsplit(b.h)), false)
	qkv := b.op(model.Op{Kind: model.Concat, Out: 3 * s.Inner}, q, k, v)
	u := b.op(model.Op{Kind: model.Conv, Role: dtype.SSMConvQ, Out: dims.ConvDim(), Scan: dims, W: convs(rows, s.Conv), Fn: model.SiLU}, qkv)
	decay := b.decay(x, rows, hd)
	beta := b.linear(x, matrix(dtype.SSMBeta, heads(s.Heads, 1), unsplit(b.h)), false)
	dtBias := vector(dtype.SSMDt, s.Inner, model.ByHead, hd)
	dtBias.Bias = true
	y := b.op(model.Op{Kind: model.Scan, Out: s.Inner, Scan: dims, W: []*model.Tensor{dtBias, b.perHead(dtype.SSMA)}}, u, decay, beta)
	n := b.headNorm(dtype.SSMNorm, y, hd)
	return b.linear(b.glu(model.Sigmoid, b.outerGate(x, rows, hd), n, 0), matrix(dtype.AttnOutput, unsplit(b.h), rows), false)
}

// convs are short convolutions of queries, keys and values of their own.
func convs(rows model.Seg, kernel int64) (out []*model.Tensor) {
	for _, role := range []dtype.Role{dtype.SSMConvQ, dtype.SSMConvK, dtype.SSMConvV} {
		out = append(out, &model.Tensor{Role: role, Batch: 1, Segs: []model.Seg{rows}, Cols: kernel, Dims: 2})
	}
	return out
}

// decay of every channel.
func (b *layerBuilder) decay(x model.Val, rows model.Seg, rank int64) model.Val {
	if b.l.SSM.WideDecay {
		return b.linear(x, matrix(dtype.SSMFB, rows, unsplit(b.h)), false)
	}
	return b.lowRank(x, dtype.SSMFA, dtype.SSMFB, rows, rank)
}

func (b *layerBuilder) outerGate(x model.Val, rows model.Seg, rank int64) model.Val {
	if b.l.SSM.WideGate {
		return b.linear(x, matrix(dtype.AttnGate, rows, unsplit(b.h)), false)
	}
	return b.lowRank(x, dtype.SSMGA, dtype.SSMGB, rows, rank)
}

// lowRank is a product of two matrices.
func (b *layerBuilder) lowRank(x model.Val, down, up dtype.Role, rows model.Seg, rank int64) model.Val {
	return b.linear(b.linear(x, matrix(down, unsplit(rank), unsplit(b.h)), false), matrix(up, rows, unsplit(rank)), false)
}

// lightning is linear attention with a fixed decay of every head (arXiv:2401.04658): a state of keys by values, a norm,
// and a gate of the output.
func (b *layerBuilder) lightning(x model.Val) model.Val {
	s := &b.l.SSM
	hd := s.Inner / s.Heads
	rows := heads(s.Inner, hd)
	dims := &model.ScanDims{Conv: 1, Inner: s.Inner, State: hd, Heads: s.Heads, HeadDim: hd, Groups: s.Heads}
	t := matrix(dtype.AttnQKV, rows, unsplit(b.h))
	t.Segs = append(t.Segs, rows, rows)
	f := b.linear(x, t, s.BiasIn)
	q, k, v := b.slice(f, s.Inner, 0, hd), b.slice(f, s.Inner, s.Inner, hd), b.slice(f, s.Inner, 2*s.Inner, hd)
	if s.HeadNorm {
		q, k = b.headNorm(dtype.AttnQNorm, q, hd), b.headNorm(dtype.AttnKNorm, k, hd)
	}
	y := b.op(model.Op{Kind: model.Scan, Out: s.Inner, Scan: dims}, q, k, v)
	n := b.op(model.Op{Kind: model.Norm, Role: dtype.SSMNorm, Out: s.Inner, W: []*model.Tensor{vector(dtype.SSMNorm, s.Inner, model.ByHead, hd)}}, y)
	g := b.linear(x, matrix(dtype.AttnGate, rows, unsplit(b.h)), false)
	return b.linear(b.glu(model.Sigmoid, g, n, 0), matrix(dtype.AttnOutput, unsplit(b.h), rows), false)
}

// shortConv is a convolution over a few tokens between two gates (LFM2, arXiv:2511.23404).
func (b *layerBuilder) shortConv(x model.Val) model.Val {
	s := &b.l.SSM
	rows := inner(s.Inner)
	dims := &model.ScanDims{Conv: s.Conv, Inner: s.Inner, Heads: s.Inner, HeadDim: 1}
	in := matrix(dtype.ShortConvIn, rows, unsplit(b.h))
	in.Segs = append(in.Segs, rows, rows)
	z := b.grouped(b.linear(x, in, s.BiasIn))
	before, after, u := b.bySeq(z, s.Inner, 0, 0), b.bySeq(z, s.Inner, s.Inner, 0), b.bySeq(z, s.Inner, 2*s.Inner, 0)
	t := &model.Tensor{Role: dtype.ShortConv, Batch: 1, Segs: []model.Seg{rows}, Cols: s.Conv, Dims: 2}
	w := []*model.Tensor{t}
	if !s.NoConvBias {
		w = append(w, bias(t))
	}
	y := b.op(model.Op{Kind: model.Conv, Role: t.Role, Out: s.Inner, Scan: dims, W: w, Fn: model.Identity}, b.glu(model.Identity, before, u, 0))
	return b.grouped(b.linear(b.glu(model.Identity, after, y, 0), matrix(dtype.ShortConvOut, unsplit(b.h), rows), s.BiasIn))
}
