package family

// ernie: ERNIE 4.5 dense: llama, one flag for all biases (Baidu 2025; transformers, models/ernie4_5).
var ernie = &Family{
	Name: "ernie4_5", Classes: []string{"Ernie4_5ForCausalLM", "Ernie4_5_ForCausalLM"}, Types: []string{"ernie4_5"},
	Config: func(c *Config) *Spec {
		s := c.base(true)
		b := c.Bool(false, "use_bias")
		f := c.gated()
		f.Bias = b
		s.Layers = repeat(Layer{Norm: RMS, Attn: c.heads().bias(b, b, b), FFN: f}, c.Layers())
		return s
	},
	Header: llama.Header,
}

// ernieMoE: experts chosen with a bias, in all but the first layers, beside shared ones (transformers,
// models/ernie4_5_moe).
var ernieMoE = &Family{
	Name: "ernie4_5-moe", Classes: []string{"Ernie4_5_MoeForCausalLM", "Ernie4_5_MoEForCausalLM"}, Types: []string{"ernie4_5_moe"},
	Config: func(c *Config) *Spec {
		s := c.base(true)
		n := c.Layers()
		b := c.Bool(false, "use_bias")
		e := MoE{Experts: c.Int("moe_num_experts"), Used: c.Int("moe_k"), Inner: c.Int("moe_intermediate_size"), Gated: true, ChoiceBias: true, Norm: true}
		e.Shared = e.Inner * c.IntOr(0, "moe_num_shared_experts")
		f := c.gated()
		f.Bias = b
		from, to, step := c.IntOr(1, "moe_layer_start_index"), c.IntOr(int64(n)-1, "moe_layer_end_index"), max(1, c.IntOr(1, "moe_layer_interval"))
		s.Layers = repeat(Layer{Norm: RMS, Attn: c.heads().bias(b, b, b)}, n)
		for i := range s.Layers {
			if k := int64(i); (k+1)%step == 0 && k >= from && k <= to {
				s.Layers[i].MoE = e
			} else {
				s.Layers[i].FFN = f
			}
		}
		// layers of prediction are dense and end without a norm
		s.MTP, s.MTPBare = repeat(Layer{Norm: RMS, Attn: c.heads().bias(b, b, b), FFN: f}, int(min(c.IntOr(0, "num_nextn_predict_layers"), 8))), true
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		e := MoE{Experts: m.Int("expert_count"), Used: m.Int("expert_used_count"), Inner: m.Int("expert_feed_forward_length"), Gated: true, Norm: true,
			Shared: m.IntOr(0, "expert_shared_feed_forward_length"), ChoiceBias: m.InLayer(n-1, "exp_probs_b.bias")}
		s.Layers = denseFirst(n, int(m.IntOr(0, "leading_dense_block_count")), 1, Layer{Norm: RMS, Attn: m.heads(n)[0]}, m.gated(), e)
		return s
	},
}
