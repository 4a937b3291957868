package family

import (
	"math"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/unit"
)

// lfm2: gated short convolutions with grouped-query attention in between, tied head (arXiv:2511.23404;
// transformers, models/lfm2).
var lfm2 = &Family{
	Name: "lfm2", Classes: []string{"Lfm2ForCausalLM"}, Types: []string{"lfm2"},
	Config: func(c *Config) *Spec {
		s := c.base(true)
		s.Tied = c.Bool(s.Tied, "tie_embedding")
		c.lfm2Layers(s, Layer{FFN: MLP{Inner: c.lfm2Inner(), Gated: true}})
		return s
	},
	Header: func(m *Meta) *Spec { return m.lfm2(func(int) Layer { return Layer{FFN: m.gated()} }) },
}

// lfm2moe: the same with experts in all but the first layers (transformers, models/lfm2_moe).
var lfm2moe = &Family{
	Name: "lfm2moe", Classes: []string{"Lfm2MoeForCausalLM"}, Types: []string{"lfm2_moe"},
	Config: func(c *Config) *Spec {
		s := c.base(true)
		s.Tied = c.Bool(s.Tied, "tie_embedding")
		e := MoE{Experts: c.Int("num_experts"), Used: c.Int("num_experts_per_tok"), Inner: c.Int("moe_intermediate_size"), Gated: true,
			Sigmoid: true, ChoiceBias: c.Bool(true, "use_expert_bias"), Norm: c.Bool(true, "norm_topk_prob")}
		c.lfm2Layers(s, Layer{MoE: e})
		for i := range s.Layers[:min(len(s.Layers), int(c.IntOr(2, "num_dense_layers")))] {
			s.Layers[i].MoE, s.Layers[i].FFN = MoE{}, c.gated()
		}
		return s
	},
	Header: func(m *Meta) *Spec {
		e := MoE{Experts: m.Int("expert_count"), Used: m.Int("expert_used_count"), Inner: m.Int("expert_feed_forward_length"), Gated: true,
			Sigmoid: true, ChoiceBias: true, Norm: true}
		dense := int(m.IntOr(2, "leading_dense_block_count"))
		return m.lfm2(func(i int) Layer {
			if i < dense {
				return Layer{FFN: m.gated()}
			}
			return Layer{MoE: e}
		})
	},
}

// lfm2Layers alternates the mixers.
func (c *Config) lfm2Layers(s *Spec, rest Layer) {
	n := c.Layers()
	rest.Norm = RMS
	b := c.Bool(false, "conv_bias")
	conv := SSM{Style: ShortOnly, Conv: c.IntOr(3, "conv_L_cache"), Inner: s.Hidden, BiasIn: b, NoConvBias: !b}
	attends := map[int64]bool{}
	for _, i := range c.Ints("full_attn_idxs") {
		attends[i] = true
	}
	types := c.Strs("layer_types")
	s.Layers = hybrid(n, rest, normed(c.heads()), conv, func(i int) bool {
		if len(types) >= n {
			return types[i] == "full_attention"
		}
		return attends[int64(i)]
	})
}

// lfm2Inner is the width of the MLP: configs give the width of an ungated one, of which two thirds are taken, rounded up.
func (c *Config) lfm2Inner() int64 {
	inner := c.Int("block_ff_dim", "intermediate_size")
	if c.Bool(true, "block_auto_adjust_ff_dim") {
		x := math.Floor(c.Float(1, "block_ffn_dim_multiplier") * float64(2*inner/3))
		if !(x > 0 && x < 1<<24) {
			c.fail("block_ffn_dim_multiplier", c.m["block_ffn_dim_multiplier"], "gives the MLP no usual width", "correct the config.json")
			return 1
		}
		inner = unit.PadUp(int64(x), max(1, c.IntOr(256, "block_multiple_of")))
	}
	return inner
}

func (m *Meta) lfm2(rest func(i int) Layer) *Spec {
	s := m.base()
	if !m.Has("output_norm.weight") && m.Has("token_embd_norm.weight") {
		s.FileNames = []FileName{{dtype.OutputNorm, dtype.TokenEmbdNorm}} // the converter names the last norm so (llama-arch.cpp, LLM_TENSOR_OUTPUT_NORM_LFM2)
	}
	n := m.Layers()
	attn := m.heads(n)
	conv := SSM{Style: ShortOnly, Conv: m.Int("shortconv.l_cache"), Inner: s.Hidden, NoConvBias: true}
	for i := range n {
		l := rest(i)
		l.Norm = RMS
		if attn[i].Heads > 0 {
			l.Attn = normed(attn[i])
		} else {
			l.SSM = conv
		}
		s.Layers = append(s.Layers, l)
	}
	return s
}
