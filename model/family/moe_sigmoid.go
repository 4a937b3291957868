package family

// Grouped-query attention with experts as in DeepSeek-V3: a few dense layers, then sigmoid routing with a bias that only
// chooses, and shared experts.

// dots1: queries and keys normalised per head (arXiv:2506.05767; transformers, models/dots1).
var dots1 = &Family{
	Name: "dots1", Classes: []string{"Dots1ForCausalLM"}, Types: []string{"dots1"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		b := c.Bool(false, "attention_bias")
		e := c.deepseekExperts()
		e.Sigmoid, e.ChoiceBias = true, true
		s.Layers = denseFirst(c.Layers(), int(c.IntOr(0, "first_k_dense_replace")), 1, Layer{Norm: RMS, Attn: normed(c.heads().bias(b, b, b))}, c.gated(), e)
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		e := MoE{Experts: m.Int("expert_count"), Used: m.Int("expert_used_count"), Inner: m.Int("expert_feed_forward_length"), Gated: true,
			Sigmoid: true, ChoiceBias: m.InLayer(n-1, "exp_probs_b.bias"), Norm: m.Bool(false, "expert_weights_norm"), Scaled: true}
		e.Shared = e.Inner * m.IntOr(0, "expert_shared_count")
		s.Layers = denseFirst(n, int(m.IntOr(0, "leading_dense_block_count")), 1, Layer{Norm: RMS, Attn: normed(m.heads(n)[0])}, m.gated(), e)
		return s
	},
}

// deepseekExperts reads a mixture under DeepSeek's keys.
func (c *Config) deepseekExperts() MoE {
	e := MoE{Experts: c.IntOr(0, "n_routed_experts"), Gated: true, Norm: c.Bool(false, "norm_topk_prob"), Scaled: c.Float(1, "routed_scaling_factor") != 1}
	if e.Experts == 0 {
		return e
	}
	e.Used, e.Inner = c.Int("num_experts_per_tok"), c.Int("moe_intermediate_size")
	e.Shared = e.Inner * c.IntOr(0, "n_shared_experts")
	return e.grouped(c.IntOr(0, "n_group"), c.IntOr(0, "topk_group"))
}

// deepseek1: DeepSeekMoE 16B: multi-head attention, softmax routing (arXiv:2401.06066; deepseek-ai/deepseek-moe-16b-base,
// modeling_deepseek.py).
var deepseek1 = &Family{
	Name: "deepseek", Classes: []string{"DeepseekForCausalLM"}, Types: []string{"deepseek"}, GGUF: []string{"deepseek2-ocr"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		b := c.Bool(false, "attention_bias")
		step := max(1, int(c.IntOr(1, "moe_layer_freq")))
		s.Layers = denseFirst(c.Layers(), int(c.IntOr(0, "first_k_dense_replace")), step, Layer{Norm: RMS, Attn: c.heads().bias(b, b, b)}, c.gated(), c.deepseekExperts())
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		e := MoE{Experts: m.Int("expert_count"), Used: m.Int("expert_used_count"), Inner: m.Int("expert_feed_forward_length"), Gated: true}
		e.Shared = e.Inner * m.IntOr(0, "expert_shared_count")
		s.Layers = denseFirst(n, int(m.IntOr(0, "leading_dense_block_count")), 1, Layer{Norm: RMS, Attn: m.heads(n)[0]}, m.gated(), e)
		return s
	},
}

// afmoe: Trinity: norms before and after each branch, a gate on every element of attention's output, three sliding layers
// to one full without rotary positions (Arcee 2025; transformers, models/afmoe).
var afmoe = &Family{
	Name: "afmoe", Classes: []string{"AfmoeForCausalLM"}, Types: []string{"afmoe"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		n := c.Layers()
		e := MoE{Experts: c.Int("num_experts"), Used: c.Int("num_experts_per_tok"), Inner: c.Int("moe_intermediate_size"), Gated: true,
			Sigmoid: true, ChoiceBias: true, Norm: c.Bool(true, "route_norm"), Scaled: true}
		e.Shared = e.Inner * c.IntOr(0, "num_shared_experts")
		e = e.grouped(c.IntOr(0, "n_group"), c.IntOr(0, "topk_group"))
		a := normed(c.heads())
		a.OutGate = a.DimV
		s.EmbedScale = c.Bool(false, "mup_enabled")
		layers := denseFirst(n, int(c.IntOr(0, "num_dense_layers")), 1, Layer{Norm: RMS, Place: Sandwich, Attn: a}, c.gated(), e)
		exaone4Spec(s, layers, c.IntOr(0, "sliding_window"), c.sliding(n, c.IntOr(4, "global_attn_every_n_layers")))
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.turnedWhereSliding(4)
		s.EmbedScale = true
		return s
	},
}

// turnedWhereSliding reads a header whose layers without a window have no rotary positions.
func (m *Meta) turnedWhereSliding(period int64) *Spec {
	s := m.probed(period, SiLU)
	w := m.IntOr(0, "attention.sliding_window")
	for i := range s.Layers {
		s.Layers[i].Attn.NoRope = w > 0 && s.Layers[i].Attn.Window == 0
	}
	return s
}

// bailing: Ling and Ring: fused qkv, routed and shared experts behind dense layers (arXiv:2503.05139,
// arXiv:2510.22115; inclusionAI/Ling-mini-2.0, modeling_bailing_moe_v2.py).
var bailing = &Family{
	Name: "bailingmoe2", Classes: []string{"BailingMoeForCausalLM", "BailingMoeV2ForCausalLM"}, Types: []string{"bailing_moe", "bailing_moe_v2"}, GGUF: []string{"bailingmoe"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		a := c.heads().bias(c.Bool(false, "use_qkv_bias"), false, c.Bool(false, "use_bias"))
		a.Fused = true
		if c.Bool(false, "use_qk_norm") {
			a.QKNorm = PerHead
		}
		if c.Bool(false, "use_bias") {
			c.lacks("use_bias", true, "is of no published Ling, and biases of experts are not described", "correct the config.json")
		}
		s.Layers = denseFirst(c.Layers(), int(c.IntOr(0, "first_k_dense_replace")), 1, Layer{Norm: RMS, Attn: a}, c.gated(), c.bailingExperts())
		s.MTP = s.mtpOf(c.IntOr(0, "num_nextn_predict_layers"))
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		a := m.heads(n)[0].bias(m.InLayer(0, "attn_qkv.bias"), false, false)
		a.Fused = m.InLayer(0, "attn_qkv.weight")
		if m.InLayer(0, "attn_q_norm.weight") {
			a.QKNorm = PerHead
		}
		e := MoE{Experts: m.Int("expert_count"), Used: m.Int("expert_used_count"), Inner: m.Int("expert_feed_forward_length"), Gated: true,
			Sigmoid: m.IntOr(1, "expert_gating_func") == 2, ChoiceBias: m.InLayer(n-1, "exp_probs_b.bias"), Norm: m.Bool(false, "expert_weights_norm")}
		e.Shared = m.IntOr(e.Inner, "expert_shared_feed_forward_length") * m.IntOr(0, "expert_shared_count")
		s.Layers = denseFirst(n, int(m.IntOr(0, "leading_dense_block_count")), 1, Layer{Norm: RMS, Attn: a}, m.gated(), e)
		return s
	},
}

func (c *Config) bailingExperts() MoE {
	e := MoE{Experts: c.Int("num_experts"), Used: c.Int("num_experts_per_tok"), Inner: c.Int("moe_intermediate_size"), Gated: true, Norm: c.Bool(true, "norm_topk_prob"),
		Sigmoid: c.Str("score_function") == "sigmoid", ChoiceBias: c.Bool(false, "moe_router_enable_expert_bias"), Scaled: c.Float(1, "routed_scaling_factor") != 1}
	e.Shared = c.IntOr(e.Inner, "moe_shared_expert_intermediate_size") * c.IntOr(0, "num_shared_experts")
	return e.grouped(c.IntOr(0, "n_group"), c.IntOr(0, "topk_group"))
}
