package family

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
)

// RWKV before version 7.
var (
	// rwkv4 has a number of state for every channel, a numerator and a denominator (arXiv:2305.13048; transformers,
	// models/rwkv).
	rwkv4 = &Family{Name: "rwkv", Classes: []string{"RwkvForCausalLM"}, Types: []string{"rwkv"}, Config: func(c *Config) *Spec { return c.rwkv(Channels) }}
	// rwkv5 is Eagle (arXiv:2404.05892; RWKV/v5-Eagle-7B-HF, modeling_rwkv5.py).
	rwkv5 = &Family{Name: "rwkv5", Classes: []string{"Rwkv5ForCausalLM"}, Types: []string{"rwkv5"}, Config: func(c *Config) *Spec { return c.rwkv(Eagle) }}
	// rwkv6 is Finch (arXiv:2404.05892; RWKV/v6-Finch-1B6-HF, modeling_rwkv6.py). Its ranks are the class's constants.
	rwkv6 = &Family{
		Name: "rwkv6", Classes: []string{"Rwkv6ForCausalLM"}, Types: []string{"rwkv6"},
		Config: func(c *Config) *Spec { return c.rwkv(Finch) },
		Header: func(m *Meta) *Spec {
			s, mix := m.rwkv()
			mix.Style = Finch
			mix.Ranks = [4]int64{m.Int("time_mix_extra_dim"), m.Int("time_decay_extra_dim")}
			s.Layers = repeat(earlierLayer(mix, m.Int("feed_forward_length")), m.Layers())
			return s
		},
	}
)

func (c *Config) rwkv(style SSMStyle) *Spec {
	if style == Channels && c.Has("head_size") { // the class of version 4 read version 5 for a while
		style = Eagle
	}
	s := c.base(false)
	s.Source.Rotary, s.EmbedNorm, s.OutNorm = nil, LayerNormBias, LayerNormBias
	s.Context = c.IntOr(s.Context, "context_length")
	mix := SSM{Style: style, Inner: c.IntOr(s.Hidden, "attention_hidden_size"), Heads: 1}
	inner := 4 * s.Hidden
	if style != Channels {
		mix.Heads = max(1, mix.Inner/max(1, c.IntOr(64, "head_size")))
		inner = s.Hidden * 7 / 2 / 32 * 32
	}
	if style == Finch {
		mix.Ranks = [4]int64{32, 64}
		if s.Hidden >= wideFinch {
			mix.Ranks = [4]int64{64, 128}
		}
	}
	s.Layers = repeat(earlierLayer(mix, c.IntOr(inner, "intermediate_size")), c.Layers())
	return s
}

// wideFinch is the width from which the class of RWKV-6 doubles its ranks.
const wideFinch = 4096

func earlierLayer(mix SSM, inner int64) Layer {
	return Layer{Norm: LayerNormBias, Place: PreNorm2, SSM: mix, FFN: MLP{Inner: inner, Act: ReLU2, Shift: true, Receptance: true}}
}

// rwkv reads what every version has in a GGUF header.
func (m *Meta) rwkv() (*Spec, SSM) {
	s := m.base()
	s.EmbedNorm, s.OutNorm = LayerNormBias, LayerNormBias
	return s, SSM{Inner: s.Hidden, Heads: max(1, s.Hidden/max(1, m.Int("wkv.head_size")))}
}

// mixesTime: the recurrence is one of RWKV's.
func (s *SSM) mixesTime() bool {
	return s.Style == TimeMix || s.Style == Channels || s.Style == Eagle || s.Style == Finch
}

// earlierTimeMix: receptance, key and value are matrices of mixes of a token and the one before; versions 5 and 6 have a gate
// and a normalisation of every head.
func (b *layerBuilder) earlierTimeMix(x model.Val) model.Val {
	s := &b.l.SSM
	hd := s.Inner / s.Heads
	rows := heads(s.Inner, hd)
	u := b.mixed(x)
	r := b.linear(u, matrix(dtype.TimeMixR, rows, unsplit(b.h)), false)
	k := b.linear(u, matrix(dtype.TimeMixK, rows, unsplit(b.h)), false)
	v := b.linear(u, matrix(dtype.TimeMixV, rows, unsplit(b.h)), false)
	w := []*model.Tensor{vector(dtype.TimeMixFirst, s.Inner, model.ByHead, hd), vector(dtype.TimeMixDecay, s.Inner, model.ByHead, hd)}
	if s.Style == Channels { // sum, weight and greatest exponent of every channel
		const kept = 3
		dims := &model.ScanDims{Conv: 2, Inner: s.Inner, State: kept, Heads: 1, HeadDim: s.Inner}
		y := b.op(model.Op{Kind: model.Scan, Out: s.Inner, Scan: dims, W: w}, r, k, v)
		return b.linear(y, matrix(dtype.TimeMixOut, unsplit(b.h), rows), false)
	}
	g := b.linear(u, matrix(dtype.TimeMixG, rows, unsplit(b.h)), false)
	decay := model.None
	if s.Style == Finch {
		decay = b.lowRank(u, dtype.TimeMixDecayW1, dtype.TimeMixDecayW2, rows, s.Ranks[1])
	}
	dims := &model.ScanDims{Conv: 2, Inner: s.Inner, State: hd, Heads: s.Heads, HeadDim: hd}
	y := b.op(model.Op{Kind: model.Scan, Out: s.Inner, Scan: dims, W: w}, r, k, v, decay)
	y = b.op(model.Op{Kind: model.Norm, Role: dtype.TimeMixLn, Out: s.Inner, Unit: hd, Mean: true, W: normWeights(LayerNormBias, vector(dtype.TimeMixLn, s.Inner, model.ByHead, hd))}, y)
	return b.linear(b.glu(model.SiLU, g, y, 0), matrix(dtype.TimeMixOut, unsplit(b.h), rows), false)
}

// mixed mixes the input with that of the token before: by fixed shares, or in version 6 by shares that a product of two
// matrices adds to.
func (b *layerBuilder) mixed(x model.Val) model.Val {
	s := &b.l.SSM
	switch s.Style {
	case Channels:
		return b.shifted(x, dtype.TimeMixLerp, 3)
	case Eagle:
		return b.shifted(x, dtype.TimeMixLerp, 4)
	}
	const mixes = 5
	u := b.shifted(x, dtype.TimeMixLerp, mixes)
	b.k.Ops[u-1].W = append(b.k.Ops[u-1].W, vector(dtype.TimeMixLerpX, b.h, model.Whole, 0))
	low := b.linear(u, matrix(dtype.TimeMixW1, unsplit(mixes*s.Ranks[0]), unsplit(b.h)), false)
	up := &model.Tensor{Role: dtype.TimeMixW2, Batch: mixes, Segs: []model.Seg{unsplit(b.h)}, Cols: s.Ranks[0], Dims: 3, Adapt: true}
	more := b.op(model.Op{Kind: model.Linear, Role: up.Role, Out: b.h, W: []*model.Tensor{up}}, low)
	return b.add(u, more, b.h)
}

// channelMix is RWKV's MLP, whose input is mixed with that of the token before.
func (b *layerBuilder) channelMix(x model.Val, f MLP) model.Val {
	u := b.shifted(x, dtype.ChannelMix, 1)
	if f.Receptance {
		b.k.Ops[u-1].W = append(b.k.Ops[u-1].W, vector(dtype.ChannelMixR, b.h, model.Whole, 0))
	}
	p := b.act(actFn[f.Act], b.linear(u, matrix(dtype.ChannelMixKey, inner(f.Inner), unsplit(b.h)), false))
	v := b.linear(p, matrix(dtype.ChannelMixValue, unsplit(b.h), inner(f.Inner)), false)
	if !f.Receptance {
		return v
	}
	return b.glu(model.Sigmoid, b.linear(u, matrix(dtype.ChannelMixGate, unsplit(b.h), unsplit(b.h)), false), v, 0)
}
