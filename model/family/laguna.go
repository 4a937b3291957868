package family

// laguna: Poolside's Laguna: sliding layers have more heads than full ones, the heads' output is gated by the layer's input, experts
// as in DeepSeek-V3 behind dense layers (transformers, models/laguna).
var laguna = &Family{
	Name: "laguna", Classes: []string{"LagunaForCausalLM"}, Types: []string{"laguna"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		n := c.Layers()
		a := normed(c.heads())
		a = a.bias(c.Bool(false, "attention_bias"), c.Bool(false, "attention_bias"), false)
		if a.OutGate = 1; c.elementGate() {
			a.OutGate = a.DimV
		}
		e := MoE{Experts: c.Int("num_experts"), Used: c.Int("num_experts_per_tok"), Inner: c.Int("moe_intermediate_size"), Gated: true, Sigmoid: true, ChoiceBias: true,
			Norm: c.Bool(true, "norm_topk_prob"), Scaled: c.Float(1, "moe_routed_scaling_factor") != 1, Shared: c.IntOr(0, "shared_expert_intermediate_size")}
		c.mixed(s, n, a, e, 1)
		for i, h := range c.Ints("num_attention_heads_per_layer") {
			if i < n && h > 0 {
				s.Layers[i].Attn.Heads = h
			}
		}
		return s
	},
	Header: func(m *Meta) *Spec { return m.probed(4, SiLU) },
}

// elementGate: "gating" is true or "per-head" for one number a head, else one for each of its elements.
func (c *Config) elementGate() bool {
	s, ok := c.Value("gating").(string)
	return ok && (s == "per-element" || s == "per_element")
}

// mellum: JetBrains' Mellum 2: Qwen3's experts in layers of which some slide (transformers, models/mellum).
var mellum = &Family{
	Name: "mellum", Classes: []string{"MellumForCausalLM"}, Types: []string{"mellum"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		b := c.Bool(false, "attention_bias")
		c.mixed(s, c.Layers(), normed(c.heads().bias(b, b, b)), c.qwenMoE(true), 0)
		return s
	},
	Header: func(m *Meta) *Spec { return m.probed(4, SiLU) },
}

// mixed are layers whose attention and MLP each are named by a list: layer_types, mlp_layer_types; dense of them come first
// where the latter is missing.
func (c *Config) mixed(s *Spec, n int, a Attention, e MoE, dense int) {
	s.Layers = repeat(Layer{Norm: RMS, Attn: a}, n)
	types := c.Strs("mlp_layer_types")
	slides := c.sliding(n, 1)
	for i := range s.Layers {
		l := &s.Layers[i]
		if sparse := i >= dense; len(types) >= n && types[i] == "sparse" || len(types) < n && sparse {
			l.MoE = e
		} else {
			l.FFN = c.gated()
		}
		if slides[i] {
			l.Attn.Window = c.Int("sliding_window")
		}
	}
}
