package family

// mpt: fused qkv, ALiBi, tied head, and most often no biases at all (MosaicML 2023; transformers,
// models/mpt/modeling_mpt.py; llm-foundry, models/mpt).
var mpt = &Family{
	Name: "mpt", Classes: []string{"MPTForCausalLM", "MptForCausalLM"}, Types: []string{"mpt"},
	Config: func(c *Config) *Spec {
		s := c.base(true)
		a := c.heads()
		alibi := true
		if t := c.Sub("attn_config"); t != nil {
			a.KVHeads = t.IntOr(a.KVHeads, "kv_n_heads")
			if t.Str("attn_type") == "multiquery_attention" {
				a.KVHeads = 1
			}
			if t.Bool(false, "qk_ln") {
				a.QKNorm = FullWidth
			}
			alibi = t.Bool(true, "alibi")
		}
		if !alibi && c.Bool(true, "learned_pos_emb") {
			s.Positions = s.Context
		}
		mptSpec(s, a, c.IntOr(4, "expansion_ratio")*s.Hidden, !c.Bool(true, "no_bias"), c.Layers())
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		s.Positions = m.Rows("position_embd.weight")
		a := m.heads(n)[0]
		if m.InLayer(0, "attn_q_norm.weight") {
			a.QKNorm = FullWidth
		}
		mptSpec(s, a, m.Int("feed_forward_length"), m.InLayer(0, "attn_qkv.bias"), n)
		return s
	},
}

func mptSpec(s *Spec, a Attention, inner int64, biased bool, n int) {
	norm := LayerNorm
	if biased {
		norm = LayerNormBias
	}
	s.OutNorm, s.Source.Rotary = norm, nil
	a = a.bias(biased, biased, biased)
	a.Fused, a.NoRope = true, true
	s.Layers = repeat(Layer{Norm: norm, Attn: a, FFN: MLP{Inner: inner, Bias: biased, Act: GELU}}, n)
}

// dbrx: fused qkv, layer norms without biases, experts in every layer (Databricks 2024; transformers,
// models/dbrx/modeling_dbrx.py).
var dbrx = &Family{
	Name: "dbrx", Classes: []string{"DbrxForCausalLM"}, Types: []string{"dbrx"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		a := c.heads()
		e := MoE{Norm: true}
		if t := c.Sub("attn_config"); t != nil {
			a.KVHeads = t.IntOr(a.KVHeads, "kv_n_heads")
		}
		t := c.Sub("ffn_config")
		if t == nil {
			c.fail("ffn_config", nil, "is missing", "give the full config.json of the model")
			return s
		}
		e.Experts, e.Used, e.Inner = t.IntOr(4, "moe_num_experts"), t.IntOr(1, "moe_top_k"), t.IntOr(3584, "ffn_hidden_size")
		dbrxSpec(s, a, e, c.Layers())
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		dbrxSpec(s, m.heads(n)[0], MoE{Experts: m.Int("expert_count"), Used: m.Int("expert_used_count"), Inner: m.Int("feed_forward_length"), Norm: true}, n)
		return s
	},
}

func dbrxSpec(s *Spec, a Attention, e MoE, n int) {
	a.Fused, e.Gated = true, true
	s.OutNorm = LayerNorm
	s.Layers = repeat(Layer{Norm: LayerNorm, Place: PreNormOut, Attn: a, MoE: e}, n)
}
