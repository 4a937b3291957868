package family

// bamba: Mamba-2 with attention in between, an MLP in every layer (IBM 2024; transformers, models/bamba).
var bamba = &Family{
	Name: "bamba", Classes: []string{"BambaForCausalLM"}, Types: []string{"bamba"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		attends := map[int64]bool{}
		for _, i := range c.Ints("attn_layer_indices") {
			attends[i] = true
		}
		a := c.heads()
		b := c.Bool(false, "attention_bias")
		rest := Layer{Norm: RMS, FFN: c.gated()}
		rest.FFN.Bias = c.Bool(false, "mlp_bias")
		s.Layers = hybrid(c.Layers(), rest, a.bias(b, b, b), c.mambaHeads(s.Hidden), func(i int) bool { return attends[int64(i)] })
		return s
	},
}

// mambaHeads reads a Mamba-2 mixer under the keys of Bamba and Falcon-H1.
func (c *Config) mambaHeads(hidden int64) SSM {
	return SSM{Style: Mamba2, Conv: c.IntOr(4, "mamba_d_conv"), Inner: c.IntOr(c.IntOr(2, "mamba_expand")*hidden, "mamba_d_ssm"), State: c.IntOr(256, "mamba_d_state"),
		Heads: c.IntOr(128, "mamba_n_heads"), Groups: c.IntOr(1, "mamba_n_groups"), BiasIn: c.Bool(false, "mamba_proj_bias"), NoConvBias: !c.Bool(true, "mamba_conv_bias")}
}

// falconH1: attention and Mamba-2 side by side in every layer, their results added; constants scale nearly
// everything (arXiv:2507.22448; transformers, models/falcon_h1).
var falconH1 = &Family{
	Name: "falcon-h1", Classes: []string{"FalconH1ForCausalLM"}, Types: []string{"falcon_h1"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		b := c.Bool(false, "attention_bias")
		a := c.heads().bias(b, b, b)
		ssm := c.mambaHeads(s.Hidden)
		ssm.NoNorm = !c.Bool(false, "mamba_rms_norm")
		f := c.gated()
		f.Bias = c.Bool(false, "mlp_bias")
		falconH1Spec(s, a, ssm, f, c.Layers())
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		ssm := m.mamba2()
		ssm.NoNorm = !m.InLayer(0, "ssm_norm.weight")
		falconH1Spec(s, m.heads(n)[0], ssm, m.gated(), n)
		return s
	},
}

func falconH1Spec(s *Spec, a Attention, ssm SSM, f MLP, n int) {
	s.EmbedScale, s.HeadScale = true, true
	s.Layers = repeat(Layer{Norm: RMS, ResidualScale: true, Attn: a, SSM: ssm, FFN: f}, n)
}
