package family

// qwen: the first Qwen: fused qkv with a bias, and an MLP half as wide as its config says (arXiv:2309.16609;
// Qwen/Qwen-7B, modeling_qwen.py).
var qwen = &Family{
	Name: "qwen", Classes: []string{"QWenLMHeadModel"}, Types: []string{"qwen"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		if v := c.Sub("visual"); v != nil {
			s.Vision = v.qwenVL(s.Hidden)
		}
		b := !c.Bool(true, "no_bias")
		mlp := MLP{Inner: c.Int("intermediate_size") / 2, Gated: true, Bias: b}
		qwenSpec(s, c.heads().bias(true, true, b), mlp, c.Layers())
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		qwenSpec(s, m.heads(n)[0].bias(true, true, false), MLP{Inner: m.Int("feed_forward_length") / 2, Gated: true}, n)
		return s
	},
}

func qwenSpec(s *Spec, a Attention, f MLP, n int) {
	a.Fused = true
	s.Layers = repeat(Layer{Norm: RMS, Attn: a, FFN: f}, n)
}
