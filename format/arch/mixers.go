package arch

import (
	"fmt"

	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/unit"
)

var qkNorms = map[string]family.QKNorm{"none": family.NoQKNorm, "per_head": family.PerHead, "full_width": family.FullWidth}

// attention reads softmax attention, with a cache per KV head or a latent.
func (o *object) attention(width int64) family.Attention {
	a := family.Attention{Heads: o.need("heads")}
	turns := int64(0)
	if o.has("latent") {
		turns = o.latent(&a)
	} else {
		turns = o.headed(&a, width)
	}
	bias := o.flag("bias", false)
	a.BiasQ, a.BiasKV, a.BiasOut = bias, bias, o.flag("out_bias", bias)
	if a.NoRope = !o.flag("rope", !o.r.encodes); !a.NoRope && o.r.turns == 0 {
		o.r.turns = turns
	}
	a.Bidirectional = o.flag("bidirectional", o.r.encodes)
	a.Cap = o.flag("cap", false)
	o.close()
	return a
}

// headed reads multi-head, grouped-query and multi-query attention, and returns the rotary dimensions per head.
func (o *object) headed(a *family.Attention, width int64) int64 {
	a.KVHeads = o.positive("kv_heads", a.Heads)
	if a.Heads%a.KVHeads != 0 {
		o.fail("kv_heads", unit.Count(a.KVHeads), fmt.Sprintf("does not divide the %d heads", a.Heads), "a divisor of heads")
	}
	if !o.has("head_dim") && width%a.Heads != 0 {
		o.fail("heads", unit.Count(a.Heads), fmt.Sprintf("does not divide the width %d", width), "other heads, or add head_dim")
	}
	a.DimK = o.positive("head_dim", max(1, width/a.Heads))
	a.DimV = o.positive("value_dim", a.DimK)
	a.Window, a.Chunk = o.number("window", 0), o.number("chunk", 0)
	a.Fused, a.Gate, a.Sinks = o.flag("fused", false), o.flag("gate", false), o.flag("sinks", false)
	a.QKNorm = qkNorms[o.word("qk_norm", "none", "none", "per_head", "full_width")]
	a.SharesKV = o.flag("shares_kv", false)
	turns := o.positive("rope_dim", a.DimK)
	if turns > a.DimK {
		o.fail("rope_dim", unit.Count(turns), fmt.Sprintf("is more than the %d numbers of a head", a.DimK), "at most head_dim")
	}
	return turns
}

// latent reads multi-head latent attention (DeepSeek-V2, arXiv:2405.04434), whose cache holds latent + rope_dim
// elements per token.
func (o *object) latent(a *family.Attention) int64 {
	a.KVRank, a.QRank = o.need("latent"), o.number("query_latent", 0)
	turns := o.need("rope_dim")
	a.Nope = o.need("nope_dim")
	a.KVHeads, a.DimK = a.Heads, a.Nope+turns
	a.DimV = o.positive("value_dim", a.Nope)
	return turns
}

// styles maps names of recurrence.
var styles = map[string]family.SSMStyle{
	"mamba1": family.Mamba1, "mamba2": family.Mamba2, "delta_net": family.DeltaNet, "linear_attention": family.Lightning,
	"short_conv": family.ShortOnly,
}

// state reads a recurrent mixer, whose state does not grow with the context.
func (o *object) state(width int64) family.SSM {
	name := o.word("style", "", "mamba1", "mamba2", "delta_net", "linear_attention", "short_conv")
	if name == "" {
		o.missing("style", "is missing", "mamba1, mamba2, delta_net, linear_attention or short_conv")
		return family.SSM{}
	}
	s := family.SSM{Style: styles[name], Inner: o.positive("inner", width), BiasIn: o.flag("bias", false)}
	if s.Style != family.Lightning {
		s.Conv = o.positive("conv", 4)
		s.NoConvBias = !o.flag("conv_bias", s.Style != family.DeltaNet)
	}
	switch s.Style {
	case family.Mamba1:
		s.State, s.Rank = o.positive("state", 16), o.positive("rank", unit.CeilDiv(width, 16))
	case family.Mamba2, family.DeltaNet:
		s.State, s.Heads, s.Groups = o.need("state"), o.need("heads"), o.positive("groups", 1)
	case family.Lightning:
		s.Heads = o.need("heads")
	}
	o.stateHeads(&s)
	o.close()
	return s
}

func (o *object) stateHeads(s *family.SSM) {
	if s.Heads > 0 && s.Inner%s.Heads != 0 {
		o.fail("heads", unit.Count(s.Heads), fmt.Sprintf("does not divide the inner width %d", s.Inner), "a divisor of inner")
	}
	if s.Groups > 0 && s.Heads%s.Groups != 0 {
		o.fail("groups", unit.Count(s.Groups), fmt.Sprintf("does not divide the %d heads", s.Heads), "a divisor of heads")
	}
	if s.Style == family.ShortOnly && s.Inner < 1 {
		o.missing("inner", "is missing", "the width of the layer")
	}
}
