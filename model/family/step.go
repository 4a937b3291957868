package family

import (
	"strconv"
	"strings"
)

// step35: Step-3.5 and 3.7 Flash: one full layer to three with a window, which may have more heads; normalised queries
// and keys, a gate on each head, experts behind dense layers (stepfun-ai/Step-3.5-Flash, modeling_step3p5.py).
var step35 = &Family{
	Name: "step35", Classes: []string{"Step3p5ForCausalLM", "Step3p7FlashForCausalLM"}, Types: []string{"step3p5", "step3p7"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		n := c.Layers()
		full := normed(c.heads())
		if c.Bool(true, "use_head_wise_attn_gate") {
			full.OutGate = 1
		}
		local := full
		local.Window = c.Int("sliding_window")
		if o := c.Sub("attention_other_setting"); o != nil {
			local.Heads, local.KVHeads = o.Int("num_attention_heads"), o.Int("num_attention_groups")
		}
		e := MoE{Experts: c.Int("moe_num_experts", "num_experts"), Used: c.Int("moe_top_k", "num_experts_per_tok"), Inner: c.Int("moe_intermediate_size"),
			Gated: true, Sigmoid: true, ChoiceBias: c.Bool(true, "use_moe_router_bias"), Norm: c.Bool(true, "norm_expert_weight"), Scaled: true, Shared: c.IntOr(0, "share_expert_dim")}
		slides, experts := c.sliding(n, 2), c.stepExperts(n)
		s.Layers = repeat(Layer{Norm: RMS, Attn: full}, n)
		for i := range s.Layers {
			l := &s.Layers[i]
			if slides[i] {
				l.Attn = local
			}
			if experts[i] {
				l.MoE = e
			} else {
				l.FFN = c.gated()
			}
		}
		// layers of prediction slide, are dense and have a head each
		s.MTP = repeat(Layer{Norm: RMS, Attn: local, FFN: c.gated()}, int(min(c.IntOr(0, "num_nextn_predict_layers"), 8)))
		s.MTPHead = len(s.MTP) > 0
		return s
	},
	Header: func(m *Meta) *Spec { return m.probed(4, SiLU) },
}

// stepExperts marks the layers with experts: a list of numbers in words, or all behind the first dense ones.
func (c *Config) stepExperts(n int) []bool {
	out := make([]bool, n)
	words := c.Str("moe_layers_enum")
	for i := range out {
		out[i] = words == "" && int64(i) >= c.IntOr(1, "first_k_dense_replace")
	}
	if words == "" {
		return out
	}
	for w := range strings.SplitSeq(words, ",") {
		i, err := strconv.Atoi(strings.TrimSpace(w))
		if err != nil || i < 0 || i >= n {
			c.fail("moe_layers_enum", w, "is not the number of a layer", "correct the config.json")
			return out
		}
		out[i] = true
	}
	return out
}
