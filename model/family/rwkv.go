package family

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
)

// rwkv7: a matrix of state for each head instead of attention, and an MLP of squared ReLU; both read a mix of a token and
// the one before it (RWKV-7, arXiv:2503.14456; flash-linear-attention, fla/models/rwkv7).
var rwkv7 = &Family{
	Name: "rwkv7", Classes: []string{"RWKV7ForCausalLM"}, Types: []string{"rwkv7"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		s.Source.Rotary = nil
		norm := LayerNorm
		if c.Bool(true, "norm_bias") {
			norm = LayerNormBias
		}
		dim := c.IntOr(64, "head_dim")
		mix := SSM{Style: TimeMix, Inner: s.Hidden, Heads: max(1, s.Hidden/max(1, dim)), Ranks: [4]int64{c.Int("decay_low_rank_dim"), c.Int("a_low_rank_dim"), c.Int("v_low_rank_dim"), c.Int("gate_low_rank_dim")}}
		ratio := c.Float(4, "hidden_ratio")
		if !(ratio >= 1 && ratio <= 1<<10) {
			c.fail("hidden_ratio", ratio, "is not a width of an MLP", "correct the config.json")
			ratio = 1
		}
		inner := c.IntOr(int64(ratio*float64(s.Hidden)), "intermediate_size")
		s.EmbedNorm, s.OutNorm = norm, norm
		s.Layers = repeat(Layer{Norm: norm, Place: PreNorm2, SSM: mix, FFN: MLP{Inner: inner, Act: ReLU2, Shift: true}}, c.Layers())
		s.Layers[0].SSM.Ranks[2] = 0 // there are no values of an earlier layer to take a share of
		return s
	},
	Header: func(m *Meta) *Spec {
		s, mix := m.rwkv()
		mix.Style = TimeMix
		mix.Ranks = [4]int64{m.Int("attention.decay_lora_rank"), m.Int("attention.iclr_lora_rank"), m.Int("attention.value_residual_mix_lora_rank"), m.IntOr(0, "attention.gate_lora_rank")}
		s.Layers = repeat(Layer{Norm: LayerNormBias, Place: PreNorm2, SSM: mix, FFN: MLP{Inner: m.Int("feed_forward_length"), Act: ReLU2, Shift: true}}, m.Layers())
		s.Layers[0].SSM.Ranks[2] = mix.Ranks[1] // the converter copies the learning rate's here, which nothing reads
		return s
	},
}

// timeMix: six mixes of the input with the last token's; receptance, key and value are matrices of three of them, decay,
// learning rate and gate go through low ranks.
func (b *layerBuilder) timeMix(x model.Val) model.Val {
	s := &b.l.SSM
	hd := s.Inner / s.Heads
	rows := heads(s.Inner, hd)
	dims := &model.ScanDims{Conv: 2, Inner: s.Inner, State: hd, Heads: s.Heads, HeadDim: hd, Delta: true}
	u := b.shifted(x, dtype.TimeMixLerp, 6)
	r := b.linear(u, matrix(dtype.TimeMixR, rows, unsplit(b.h)), false)
	k := b.linear(u, matrix(dtype.TimeMixK, rows, unsplit(b.h)), false)
	v := b.linear(u, matrix(dtype.TimeMixV, rows, unsplit(b.h)), false)
	decay := b.ranked(u, rows, s.Ranks[0], dtype.TimeMixW0, dtype.TimeMixW1, dtype.TimeMixW2)
	rate := b.ranked(u, rows, s.Ranks[1], dtype.TimeMixA0, dtype.TimeMixA1, dtype.TimeMixA2)
	if s.Ranks[2] > 0 {
		v = b.add(v, b.ranked(u, rows, s.Ranks[2], dtype.TimeMixV0, dtype.TimeMixV1, dtype.TimeMixV2), s.Inner)
	}
	g := b.lowRank(u, dtype.TimeMixG1, dtype.TimeMixG2, rows, s.Ranks[3])
	k = b.scale(k, s.Inner, vector(dtype.TimeMixKK, s.Inner, model.ByHead, hd), vector(dtype.TimeMixKA, s.Inner, model.ByHead, hd))
	rate = b.op(model.Op{Kind: model.Glu, Out: s.Inner, Fn: model.Identity}, decay, rate)
	y := b.op(model.Op{Kind: model.Scan, Out: s.Inner, Scan: dims, W: []*model.Tensor{vector(dtype.TimeMixRK, s.Inner, model.ByHead, hd)}}, r, k, v, rate)
	n := vector(dtype.TimeMixLn, s.Inner, model.ByHead, hd)
	y = b.op(model.Op{Kind: model.Norm, Role: dtype.TimeMixLn, Out: s.Inner, Unit: hd, Mean: true, W: normWeights(LayerNormBias, n)}, y)
	return b.linear(b.glu(model.Identity, g, y, 0), matrix(dtype.TimeMixOut, unsplit(b.h), rows), false)
}

// shifted mixes the input with that of the token before, in n proportions of each channel.
func (b *layerBuilder) shifted(x model.Val, role dtype.Role, n int64) model.Val {
	dims := &model.ScanDims{Conv: 2, Inner: b.h, Heads: 1, HeadDim: b.h}
	return b.op(model.Op{Kind: model.Conv, Role: role, Out: b.h, Scan: dims, W: []*model.Tensor{vector(role, n*b.h, model.Whole, 0)}}, x)
}

// ranked is a vector and a product of two matrices of the input.
func (b *layerBuilder) ranked(x model.Val, rows model.Seg, rank int64, at, down, up dtype.Role) model.Val {
	return b.scale(b.lowRank(x, down, up, rows, rank), rows.Rows, vector(at, rows.Rows, model.ByHead, rows.Unit))
}
