package family

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
)

// attention with a KV cache per head (multi-head, grouped-query, multi-query).
func (b *layerBuilder) attention(x model.Val) model.Val {
	a := &b.l.Attn
	var gate model.Val
	q, k, v := b.project(x)
	b.index(x, x, b.h)
	if a.Gate {
		q, gate = b.ofEach(q, a.Heads, 2*a.DimK, 0, a.DimK), b.ofEach(q, a.Heads, 2*a.DimK, a.DimK, a.DimK)
	}
	if a.TurnFirst {
		q, k = b.turned(q, k)
	}
	q = b.qkNorm(dtype.AttnQNorm, q, a.DimK, a.Heads, model.ByHead)
	if k != model.None {
		k = b.qkNorm(dtype.AttnKNorm, k, a.DimK, a.KVHeads, model.ByKVHead)
	}
	if a.VNorm && v != model.None {
		v = b.op(model.Op{Kind: model.Norm, Out: b.width(v), Unit: a.DimV}, v)
	}
	if !a.TurnFirst {
		q, k = b.turned(q, k)
	}
	if a.Scale {
		q = b.scale(q, b.width(q))
	}
	o := b.attend(q, k, v)
	if a.Gate {
		o = b.glu(model.Sigmoid, gate, o, 0)
	}
	if o = b.gateOut(o, x); b.l.InnerNorm {
		o = b.norm(b.l.Norm, dtype.AttnSubNorm, o, a.Heads*a.DimV)
	}
	return b.linear(o, matrix(dtype.AttnOutput, unsplit(b.h), heads(a.Heads*a.DimV, a.DimV)), a.BiasOut)
}

// turned gives queries and keys their positions.
func (b *layerBuilder) turned(q, k model.Val) (model.Val, model.Val) {
	a := &b.l.Attn
	if a.NoRope {
		return q, k
	}
	q = b.rope(q, a.DimK)
	if k != model.None {
		k = b.rope(k, a.DimK)
	}
	return q, k
}

// gateOut weighs the heads, or their elements, by a function of the layer's input.
func (b *layerBuilder) gateOut(o, x model.Val) model.Val {
	a := &b.l.Attn
	if a.OutGate == 0 {
		return o
	}
	g := b.linear(x, matrix(dtype.AttnGate, heads(a.Heads*a.OutGate, a.OutGate), unsplit(b.h)), false)
	return b.glu(model.Sigmoid, g, o, a.DimV)
}

// rope turns queries or keys by their positions. Layers that see every token read the stored factors of a
// model that has them.
func (b *layerBuilder) rope(x model.Val, unit int64) model.Val {
	o := model.Op{Kind: model.Rope, Out: b.width(x), Unit: unit}
	if a := &b.l.Attn; (a.Window == 0 || a.LocalFactors) && len(b.tables) > 0 {
		o.W, o.Lent = b.tables, true
	}
	return b.op(o, x)
}

// project gives queries, keys and values; keys and values are None where another layer's are used.
func (b *layerBuilder) project(x model.Val) (q, k, v model.Val) {
	a := &b.l.Attn
	qw, kw, vw := a.Heads*a.DimK, a.KVHeads*a.DimK, a.KVHeads*a.DimV
	if a.Fused {
		t := matrix(dtype.AttnQKV, heads(qw, a.DimK), unsplit(b.from()))
		t.Segs = append(t.Segs, kvHeads(kw, a.DimK), kvHeads(vw, a.DimV))
		f := b.linear(x, t, a.BiasQ)
		return b.slice(f, qw, 0, a.DimK), b.slice(f, kw, qw, a.DimK), b.slice(f, vw, qw+kw, a.DimV)
	}
	wide := int64(1)
	if a.Gate {
		wide = 2
	}
	q = b.linear(x, matrix(dtype.AttnQ, heads(wide*qw, wide*a.DimK), unsplit(b.from())), a.BiasQ)
	if a.SharesKV && !a.OwnKV {
		return q, model.None, model.None
	}
	k = b.linear(x, matrix(dtype.AttnK, kvHeads(kw, a.DimK), unsplit(b.from())), a.BiasKV && !a.NoBiasK)
	if a.KEqV {
		return q, k, k
	}
	return q, k, b.linear(x, matrix(dtype.AttnV, kvHeads(vw, a.DimV), unsplit(b.from())), a.BiasKV)
}

func (b *layerBuilder) qkNorm(role dtype.Role, x model.Val, dim, n int64, by model.Split) model.Val {
	switch b.l.Attn.QKNorm {
	case PerHead:
		return b.headNorm(role, x, dim)
	case FullWidth:
		return b.op(model.Op{Kind: model.Norm, Role: role, Out: dim * n, W: []*model.Tensor{vector(role, dim*n, by, dim)}}, x)
	case PerHeadBias:
		w := normWeights(LayerNormBias, vector(role, dim, model.Whole, 0))
		return b.op(model.Op{Kind: model.Norm, Role: role, Out: dim * n, Unit: dim, Mean: true, W: w}, x)
	case Weightless:
		return b.op(model.Op{Kind: model.Norm, Out: dim * n, Unit: dim}, x)
	case EachHead:
		t := vector(role, dim*n, by, dim)
		t.Dims = 2
		return b.op(model.Op{Kind: model.Norm, Role: role, Out: dim * n, Unit: dim, Mean: b.l.Norm.mean(), W: []*model.Tensor{t}}, x)
	}
	return x
}

func (b *layerBuilder) attend(q, k, v model.Val) model.Val {
	a := &b.l.Attn
	o := model.Op{Kind: model.Attention, Out: a.Heads * a.DimV, Attn: &model.Attn{Heads: a.Heads, KVHeads: a.KVHeads, DimK: a.DimK, DimV: a.DimV,
		Window: a.Window, Chunk: a.Chunk, Sinks: a.Sinks, Cap: a.Cap, SharesKV: a.SharesKV, Bidirectional: a.Bidirectional, Index: a.Index.keys(), Chosen: a.Chosen}}
	if a.Sinks {
		o.W = []*model.Tensor{vector(dtype.AttnSinks, a.Heads, model.ByHead, 1)}
	}
	if a.RelBias > 0 {
		t := vector(dtype.AttnRelBias, a.RelBias, model.Whole, 0)
		t.Dims = 2 // heads × distances
		o.W = append(o.W, t)
	}
	return b.op(o, q, k, v)
}

// query of latent attention: through a low rank, or direct.
func (b *layerBuilder) latentQuery(x model.Val) model.Val {
	a := &b.l.Attn
	rows := heads(a.Heads*a.DimK, a.DimK)
	if a.QRank == 0 {
		return b.linear(x, matrix(dtype.AttnQ, rows, unsplit(b.from())), false)
	}
	qa := b.linear(x, matrix(dtype.AttnQA, unsplit(a.QRank), unsplit(b.from())), a.BiasQ)
	qa = b.norm(RMS, dtype.AttnQANorm, qa, a.QRank)
	b.index(x, qa, a.QRank)
	return b.linear(qa, matrix(dtype.AttnQB, rows, unsplit(a.QRank)), false)
}

// latent of MLA: normalised compressed part and rotary part.
func (b *layerBuilder) latent(x model.Val) (compressed, rotary model.Val) {
	a := &b.l.Attn
	rope := a.DimK - a.Nope
	kv := b.linear(x, matrix(dtype.AttnKVA, unsplit(a.KVRank+rope), unsplit(b.from())), a.BiasKV)
	c := b.norm(RMS, dtype.AttnKVANorm, b.slice(kv, a.KVRank, 0, 0), a.KVRank)
	if rope == 0 {
		return c, model.None
	}
	return c, b.rope(b.slice(kv, rope, a.KVRank, rope), rope)
}

// latentAttention is MLA (DeepSeek-V2, arXiv:2405.04434): the cache holds the latent; k_b and v_b belong
// to the attention operator, because an engine may absorb or expand them.
func (b *layerBuilder) latentAttention(x model.Val) model.Val {
	a := &b.l.Attn
	rope := a.DimK - a.Nope
	q := b.latentQuery(x)
	qn := b.ofEach(q, a.Heads, a.DimK, 0, a.Nope)
	c, kr := b.latent(x)
	in := []model.Val{qn, c}
	if rope > 0 {
		in = []model.Val{qn, b.rope(b.ofEach(q, a.Heads, a.DimK, a.Nope, rope), rope), c, kr}
	}
	kb := &model.Tensor{Role: dtype.AttnKB, Batch: a.Heads, BatchBy: model.ByHead, Segs: []model.Seg{unsplit(a.KVRank)},
		Cols: a.Nope, Dims: 3, Adapt: true}
	vb := &model.Tensor{Role: dtype.AttnVB, Batch: a.Heads, BatchBy: model.ByHead, Segs: []model.Seg{unsplit(a.DimV)},
		Cols: a.KVRank, Dims: 3, Adapt: true}
	kb.In = &model.Matrix{Rows: a.Heads * (a.Nope + a.DimV), Cols: a.KVRank} // kv_b, of both heads' rows in turn
	vb.In, kb.First = kb.In, true
	w := []*model.Tensor{kb, vb}
	if a.Sinks {
		w = append(w, vector(dtype.AttnSinks, a.Heads, model.ByHead, 1))
	}
	o := b.op(model.Op{Kind: model.Attention, Out: a.Heads * a.DimV, W: w, Attn: &model.Attn{Heads: a.Heads, KVHeads: 1,
		DimK: a.DimK, DimV: a.DimV, Index: a.Index.keys(), Chosen: a.Chosen,
		Sinks: a.Sinks, Latent: &model.Latent{Rank: a.KVRank, Rope: rope, Nope: a.Nope, V: a.DimV}}}, in...)
	return b.linear(b.gateOut(o, x), matrix(dtype.AttnOutput, unsplit(b.h), heads(a.Heads*a.DimV, a.DimV)), a.BiasOut)
}

// expandedAttention compresses like MLA but caches full keys and values (MiniCPM3). Of each query the
// last part is turned; the turned part of the keys is one for all heads.
func (b *layerBuilder) expandedAttention(x model.Val) model.Val {
	a := &b.l.Attn
	q := b.rope(b.latentQuery(x), a.DimK)
	c, kr := b.latent(x)
	wide := a.Nope + a.DimV
	kv := b.linear(c, matrix(dtype.AttnKVB, heads(a.Heads*wide, wide), unsplit(a.KVRank)), false)
	kn, v := b.ofEach(kv, a.Heads, wide, 0, a.Nope), b.ofEach(kv, a.Heads, wide, a.Nope, a.DimV)
	k := b.op(model.Op{Kind: model.Concat, Out: a.Heads * a.DimK, Unit: a.DimK}, kn, kr)
	return b.linear(b.attend(q, k, v), matrix(dtype.AttnOutput, unsplit(b.h), heads(a.Heads*a.DimV, a.DimV)), a.BiasOut)
}

// mamba1: selective scan with per-channel state (Mamba, arXiv:2312.00752).
func (b *layerBuilder) mamba1(x model.Val) model.Val {
	s := &b.l.SSM
	dims := &model.ScanDims{Conv: s.Conv, Inner: s.Inner, State: s.State, Heads: s.Inner, HeadDim: 1}
	in := matrix(dtype.SSMIn, inner(s.Inner), unsplit(b.h))
	in.Segs = append(in.Segs, inner(s.Inner))
	z := b.grouped(b.linear(x, in, s.BiasIn))
	u := b.conv(b.bySeq(z, s.Inner, 0, 0), dims, inner(s.Inner))
	dbc := b.grouped(b.linear(u, matrix(dtype.SSMX, unsplit(s.Rank+2*s.State), inner(s.Inner)), false))
	dt, sb, sc := b.bySeq(dbc, s.Rank, 0, 0), b.bySeq(dbc, s.State, s.Rank, s.State), b.bySeq(dbc, s.State, s.Rank+s.State, s.State)
	if s.DBCNorm {
		dt = b.norm(RMS, dtype.SSMDtNorm, dt, s.Rank)
		sb = b.norm(RMS, dtype.SSMBNorm, sb, s.State)
		sc = b.norm(RMS, dtype.SSMCNorm, sc, s.State)
	}
	dt = b.grouped(b.linear(dt, matrix(dtype.SSMDt, inner(s.Inner), unsplit(s.Rank)), true))
	a := matrix(dtype.SSMA, inner(s.Inner), unsplit(s.State))
	a.Adapt = false
	y := b.op(model.Op{Kind: model.Scan, Out: s.Inner, Scan: dims, W: []*model.Tensor{a, vector(dtype.SSMD, s.Inner, model.ByInner, 0)}}, u, dt, sb, sc)
	g := b.glu(model.SiLU, b.bySeq(z, s.Inner, s.Inner, 0), y, 0)
	return b.grouped(b.linear(g, matrix(dtype.SSMOut, unsplit(b.h), inner(s.Inner)), s.BiasIn))
}

// conv is the short causal convolution before a scan; segs are the channels.
func (b *layerBuilder) conv(x model.Val, dims *model.ScanDims, segs ...model.Seg) model.Val {
	t := &model.Tensor{Role: dtype.SSMConv, Batch: 1, Segs: segs, Cols: dims.Conv, Dims: 2}
	w := []*model.Tensor{t}
	if !b.l.SSM.NoConvBias {
		w = append(w, bias(t))
	}
	return b.op(model.Op{Kind: model.Conv, Role: t.Role, Out: dims.ConvDim(), Scan: dims, W: w, Fn: model.SiLU}, x)
}

// mamba2: state-space duality with heads and groups (Mamba-2, arXiv:2405.21060).
func (b *layerBuilder) mamba2(x model.Val) model.Val {
	s := &b.l.SSM
	hd := s.Inner / s.Heads
	gs := s.Groups * s.State
	dims := &model.ScanDims{Conv: s.Conv, Inner: s.Inner, State: s.State, Heads: s.Heads, HeadDim: hd, Groups: s.Groups}
	in := matrix(dtype.SSMIn, heads(s.Inner, hd), unsplit(b.h))
	in.Segs = append(in.Segs, heads(s.Inner, hd), groups(2*gs, s.State), heads(s.Heads, 1))
	z := b.linear(x, in, s.BiasIn)
	u := b.conv(b.bySeq(z, dims.ConvDim(), s.Inner, 0), dims, heads(s.Inner, hd), groups(2*gs, s.State))
	dt := b.bySeq(z, s.Heads, 2*s.Inner+2*gs, 0)
	dtBias := vector(dtype.SSMDt, s.Heads, model.ByHead, 1)
	dtBias.Bias = true
	y := b.op(model.Op{Kind: model.Scan, Out: s.Inner, Scan: dims, W: []*model.Tensor{dtBias, b.perHead(dtype.SSMA), b.perHead(dtype.SSMD)}}, u, dt)
	g := b.glu(model.SiLU, b.bySeq(z, s.Inner, 0, hd), y, hd)
	if !s.NoNorm {
		n := vector(dtype.SSMNorm, s.Inner, model.ByHead, hd)
		n.Dims = 2
		g = b.op(model.Op{Kind: model.Norm, Role: dtype.SSMNorm, Out: s.Inner, Unit: s.Inner / s.Groups, W: []*model.Tensor{n}}, g)
	}
	return b.linear(g, matrix(dtype.SSMOut, unsplit(b.h), heads(s.Inner, hd)), s.BiasIn)
}

func (b *layerBuilder) perHead(role dtype.Role) *model.Tensor {
	t := vector(role, b.l.SSM.Heads, model.ByHead, 1)
	if b.l.SSM.Style == Mamba2 {
		t.Dims = 2
	}
	return t
}

// deltaNet: the gated delta rule (arXiv:2412.06464) as in Qwen3-Next. Keys and queries have Groups heads
// of width State, values Heads heads.
func (b *layerBuilder) deltaNet(x model.Val) model.Val {
	s := &b.l.SSM
	hd := s.Inner / s.Heads
	gs := s.Groups * s.State
	dims := &model.ScanDims{Conv: s.Conv, Inner: s.Inner, State: s.State, Heads: s.Heads, HeadDim: hd, Groups: s.Groups, Delta: true}
	channels := []model.Seg{groups(2*gs, s.State), heads(s.Inner, hd)}
	qkv := matrix(dtype.AttnQKV, channels[0], unsplit(b.h))
	qkv.Segs = append(qkv.Segs, channels[1])
	u := b.linear(x, qkv, false)
	z := b.linear(x, matrix(dtype.AttnGate, heads(s.Inner, hd), unsplit(b.h)), false)
	beta, alpha := b.betaAlpha(x)
	u = b.conv(u, dims, channels...)
	dtBias := vector(dtype.SSMDt, s.Heads, model.ByHead, 1)
	dtBias.Bias = true
	y := b.op(model.Op{Kind: model.Scan, Out: s.Inner, Scan: dims, W: []*model.Tensor{dtBias, b.perHead(dtype.SSMA)}}, u, alpha, beta)
	n := b.headNorm(dtype.SSMNorm, y, hd)
	g := b.glu(model.SiLU, z, n, hd)
	return b.grouped(b.linear(g, matrix(dtype.SSMOut, unsplit(b.h), heads(s.Inner, hd)), false))
}

// betaAlpha are two numbers for each value head: from a matrix each, or from one whose rows alternate
// between both for the value heads of every key head.
func (b *layerBuilder) betaAlpha(x model.Val) (beta, alpha model.Val) {
	s := &b.l.SSM
	one := heads(s.Heads, 1)
	if s.SplitBA {
		return b.linear(x, matrix(dtype.SSMBeta, one, unsplit(b.h)), false), b.linear(x, matrix(dtype.SSMAlpha, one, unsplit(b.h)), false)
	}
	t := matrix(dtype.SSMBA, one, unsplit(b.h))
	t.Segs = append(t.Segs, one)
	ba := b.linear(x, t, false)
	n := s.Heads / s.Groups
	return b.grouped(b.ofEach(ba, s.Groups, 2*n, 0, n)), b.grouped(b.ofEach(ba, s.Groups, 2*n, n, n))
}
