package family

import (
	"slices"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
)

// stripedHyena: StripedHyena and Evo (arXiv:2302.10866, arXiv:2310.18780; stripedhyena/model.py of
// github.com/togethercomputer/stripedhyena): long convolutions written as sums of decaying exponentials, one for each
// channel, with grouped-query attention in between.
var stripedHyena = &Family{
	Name: "stripedhyena", Classes: []string{"StripedHyenaModelForCausalLM"}, Types: []string{"stripedhyena"},
	Config: func(c *Config) *Spec {
		c.as("tie_word_embeddings", "tie_embeddings", "tie_word_embeddings")
		c.as("max_position_embeddings", "max_seqlen", "max_position_embeddings")
		c.as("intermediate_size", "inner_mlp_size", "intermediate_size")
		s := c.base(false)
		h := c.Int("num_attention_heads")
		if !c.Has("num_key_value_heads") {
			c.defaults(map[string]int64{"num_key_value_heads": max(1, h/max(1, c.IntOr(1, "proj_groups")))})
		}
		b := c.Bool(true, "qkv_proj_bias")
		a := c.heads().bias(b, b, c.Bool(true, "mha_out_proj_bias"))
		long := SSM{Style: LongConv, Inner: s.Hidden, Heads: 1, State: c.Int("state_size"), Conv: c.IntOr(3, "short_filter_length"),
			Groups: max(1, s.Hidden/max(1, c.IntOr(s.Hidden, "hyena_filter_groups"))), NoConvBias: !c.Bool(false, "short_filter_bias")}
		rest := Layer{Norm: RMS, FFN: c.gated()}
		at := c.Ints("attn_layer_idxs")
		s.Layers = hybrid(c.Layers(), rest, a, long, func(i int) bool { return slices.Contains(at, int64(i)) })
		return s
	},
}

// longConv is a gated long convolution: three projections through a short filter, two of them multiplied, convolved by a
// filter of State complex poles in each group of channels, gated by the third. A step keeps the last rows of the short
// filter and the complex numbers of the long one.
func (b *layerBuilder) longConv(x model.Val) model.Val {
	s := &b.l.SSM
	rows := inner(s.Inner)
	in := matrix(dtype.HyenaIn, rows, unsplit(b.h))
	in.Segs = append(in.Segs, rows, rows)
	z := b.grouped(b.linear(x, in, true))
	short := &model.Tensor{Role: dtype.HyenaShort, Batch: 1, Segs: in.Segs, Cols: s.Conv, Dims: 2}
	w := []*model.Tensor{short}
	if !s.NoConvBias {
		w = append(w, bias(short))
	}
	z = b.op(model.Op{Kind: model.Conv, Role: short.Role, Out: 3 * s.Inner, W: w, Fn: model.Identity,
		Scan: &model.ScanDims{Conv: s.Conv, Inner: 3 * s.Inner, Heads: 3 * s.Inner, HeadDim: 1}}, z)
	gate, left, right := b.bySeq(z, s.Inner, 0, 0), b.bySeq(z, s.Inner, s.Inner, 0), b.bySeq(z, s.Inner, 2*s.Inner, 0)
	filter := func(role dtype.Role) *model.Tensor { return fixed(role, 2*s.State, s.Groups) }
	y := b.op(model.Op{Kind: model.Scan, Role: dtype.HyenaPoles, Out: s.Inner, Scan: &model.ScanDims{Inner: s.Inner, State: 2 * s.State, Heads: s.Inner, HeadDim: 1, Long: true},
		W: []*model.Tensor{filter(dtype.HyenaPoles), filter(dtype.HyenaResidue), vector(dtype.HyenaSkip, s.Inner, model.ByInner, 0)}}, b.glu(model.Identity, left, right, 0))
	return b.grouped(b.linear(b.glu(model.Identity, gate, y, 0), matrix(dtype.HyenaOut, unsplit(b.h), rows), true))
}
