package family

// phimoe: layer norms, biases in attention and head, experts in every layer (arXiv:2404.14219; transformers,
// models/phimoe). The slim models of arXiv:2506.18349 give a head width of their own.
var phimoe = &Family{
	Name: "phimoe", Classes: []string{"PhiMoEForCausalLM", "PhimoeForCausalLM"}, Types: []string{"phimoe"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		b := c.Bool(false, "attention_bias")
		a := c.heads().bias(b, b, b)
		a.Window = c.IntOr(0, "sliding_window")
		s.HeadBias = c.Bool(false, "lm_head_bias")
		if c.ropeType() == "longrope" {
			s.Tables = longTables(a.DimK / 2)
		}
		phimoeSpec(s, a, MoE{Experts: c.IntOr(16, "num_local_experts"), Used: c.IntOr(2, "num_experts_per_tok"), Inner: c.Int("intermediate_size")}, c.Layers())
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		b := m.InLayer(0, "attn_q.bias")
		s.HeadBias = m.Has("output.bias")
		phimoeSpec(s, m.heads(n)[0].bias(b, b, b), MoE{Experts: m.Int("expert_count"), Used: m.Int("expert_used_count"), Inner: m.Int("feed_forward_length")}, n)
		return s
	},
}

func phimoeSpec(s *Spec, a Attention, e MoE, n int) {
	if a.Window >= s.Context {
		a.Window = 0 // wider than the trained context: never reached
	}
	e.Gated = true
	s.OutNorm = LayerNormBias
	s.Layers = repeat(Layer{Norm: LayerNormBias, Attn: a, MoE: e}, n)
}

// phi3small: layer norms and biases, fused qkv, a gated MLP in one matrix, tied head; every second layer attends
// to blocks only, and still keeps all keys and values (microsoft/Phi-3-small-8k-instruct, modeling_phi3_small.py).
var phi3small = &Family{
	Name: "phi3small", Classes: []string{"Phi3SmallForCausalLM"}, Types: []string{"phi3small"},
	Config: func(c *Config) *Spec {
		s := c.base(true)
		s.OutNorm, s.EmbedScale, s.HeadScale = LayerNormBias, true, true
		a := c.heads().bias(true, true, true)
		a.Fused = true
		mlp := MLP{Inner: c.Int("ff_intermediate_size"), Gated: true, Fused: true, Bias: true, Act: GELU}
		s.Layers = repeat(Layer{Norm: LayerNormBias, Attn: a, FFN: mlp}, c.Layers())
		return s
	},
}
