package family

// phi2: one norm, attention and MLP side by side, biases everywhere.
var phi2 = &Family{
	Name: "phi2", Classes: []string{"PhiForCausalLM", "MixFormerSequentialForCausalLM"}, Types: []string{"phi", "mixformer-sequential"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		a := c.heads()
		a.QKNorm = NoQKNorm
		phi2Spec(s, a, c.IntOr(4*s.Hidden, "intermediate_size", "n_inner"), c.Layers())
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		phi2Spec(s, m.heads(n)[0], m.Int("feed_forward_length"), n)
		return s
	},
}

func phi2Spec(s *Spec, a Attention, inner int64, n int) {
	s.OutNorm, s.HeadBias = LayerNormBias, true
	a = a.bias(true, true, true)
	a.Fused = true
	a.Scale = true
	s.Layers = repeat(Layer{Norm: LayerNormBias, Place: Parallel, Sum: Branches, Attn: a, FFN: MLP{Inner: inner, Bias: true, Act: GELU}}, n)
}

// phi3: llama with fused qkv and fused gate and up. Phi-4 is the same architecture.
var phi3 = &Family{
	Name: "phi3", Classes: []string{"Phi3ForCausalLM"}, Types: []string{"phi3"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		a := c.heads()
		a.Window = c.IntOr(0, "sliding_window")
		if t := c.ropeType(); t == "longrope" || t == "su" || t == "yarn" {
			s.Tables = longTables(int64(c.Float(1, "partial_rotary_factor")*float64(a.DimK)) / 2)
		}
		phi3Spec(s, a, c.gated(), c.Layers())
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		a := m.heads(n)[0]
		a.Window = m.IntOr(0, "attention.sliding_window")
		phi3Spec(s, a, m.gated(), n)
		return s
	},
}

func phi3Spec(s *Spec, a Attention, f MLP, n int) {
	a.Fused, f.Fused = true, true
	a.Scale = true
	if a.Window >= s.Context {
		a.Window = 0 // wider than the trained context: never reached
	}
	s.Layers = repeat(Layer{Norm: RMS, Attn: a, FFN: f}, n)
}
