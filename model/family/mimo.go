package family

// mimo: Qwen2 with layers that predict further tokens (arXiv:2505.07608; XiaomiMiMo/MiMo-7B-Base,
// modeling_mimo.py). They share embedding and head with the model.
var mimo = &Family{
	Name: "mimo", Classes: []string{"MiMoForCausalLM"}, Types: []string{"mimo"},
	Config: func(c *Config) *Spec {
		b := c.Bool(true, "attention_bias")
		s := c.base(false)
		a := c.heads().bias(b, b, false)
		if c.Bool(false, "use_sliding_window") {
			a.Window = c.IntOr(0, "sliding_window")
		}
		s.Layers = repeat(Layer{Norm: RMS, Attn: a, FFN: c.gated()}, c.Layers())
		s.MTP = s.mtpOf(c.IntOr(0, "num_nextn_predict_layers"))
		return s
	},
}

// mimo2: MiMo-V2: five layers with a window of 128 and sinks to one that sees everything; keys are wider than values, and
// the two kinds of layers differ in KV heads. A dense layer, then experts as in DeepSeek-V3 without shared ones
// (XiaomiMiMo/MiMo-V2-Flash, modeling_mimo_v2_flash.py).
var mimo2 = &Family{
	Name: "mimo2", Classes: []string{"MiMoV2FlashForCausalLM", "MiMoV2ForCausalLM"}, Types: []string{"mimo_v2_flash", "mimo_v2"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		n := c.Layers()
		slides, experts := c.marks("hybrid_layer_pattern", n), c.marks("moe_layer_freq", n)
		full, local := c.mimoHeads(""), c.mimoHeads("swa_")
		local.Window = c.Int("sliding_window")
		e := c.mimoMoE()
		s.Layers = repeat(Layer{Norm: RMS}, n)
		for i := range s.Layers {
			l := &s.Layers[i]
			if l.Attn = full; slides[i] {
				l.Attn = local
			}
			if experts[i] {
				l.MoE = e
			} else {
				l.FFN = c.gated()
			}
		}
		return s
	},
	Header: func(m *Meta) *Spec { return m.probed(6, SiLU) },
}

func (c *Config) mimoHeads(prefix string) Attention {
	a := Attention{Heads: c.Int(prefix + "num_attention_heads"), KVHeads: c.Int(prefix + "num_key_value_heads"), DimK: c.Int(prefix + "head_dim")}
	a.DimV = c.IntOr(a.DimK, prefix+"v_head_dim")
	sinks := "add_full_attention_sink_bias"
	if prefix != "" {
		sinks = "add_swa_attention_sink_bias"
	}
	a.Sinks = c.Bool(false, sinks)
	b := c.Bool(false, "attention_bias")
	return a.bias(b, b, false)
}

func (c *Config) mimoMoE() MoE {
	e := MoE{Experts: c.Int("n_routed_experts"), Used: c.Int("num_experts_per_tok"), Inner: c.Int("moe_intermediate_size"), Gated: true, Norm: c.Bool(true, "norm_topk_prob")}
	e.Sigmoid, e.ChoiceBias = c.Str("scoring_func") == "sigmoid", c.Str("topk_method") == "noaux_tc"
	e.Shared = e.Inner * c.IntOr(0, "n_shared_experts")
	return e.grouped(c.IntOr(0, "n_group"), c.IntOr(0, "topk_group"))
}

// marks reads a list of 0 and 1, one a layer.
func (c *Config) marks(key string, n int) []bool {
	list := c.Ints(key)
	if len(list) < n {
		c.fail(key, nil, "does not have a number for each layer", "give the full config.json of the model")
		return make([]bool, n)
	}
	out := make([]bool, n)
	for i := range out {
		out[i] = list[i] != 0
	}
	return out
}
