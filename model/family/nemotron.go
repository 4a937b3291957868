package family

// nemotron: Nemotron-4 and Minitron: layer norms with biases, an ungated MLP of squared ReLU (arXiv:2402.16819,
// arXiv:2407.14679; transformers, models/nemotron).
var nemotron = &Family{
	Name: "nemotron", Classes: []string{"NemotronForCausalLM"}, Types: []string{"nemotron"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		b := c.Bool(false, "attention_bias")
		mlp := MLP{Inner: c.Int("intermediate_size"), Bias: c.Bool(false, "mlp_bias"), Act: ReLU2}
		nemotronSpec(s, c.heads().bias(b, b, b), mlp, c.Layers())
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		b := m.InLayer(0, "attn_q.bias")
		mlp := MLP{Inner: m.Int("feed_forward_length"), Bias: m.InLayer(0, "ffn_up.bias"), Act: ReLU2}
		nemotronSpec(s, m.heads(n)[0].bias(b, b, b), mlp, n)
		return s
	},
}

func nemotronSpec(s *Spec, a Attention, f MLP, n int) {
	s.OutNorm = LayerNormBias
	s.Layers = repeat(Layer{Norm: LayerNormBias, Attn: a, FFN: f}, n)
}
