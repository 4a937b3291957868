package family

// granite: llama with constant multipliers on embedding, residuals and logits.
var granite = &Family{
	Name: "granite", Classes: []string{"GraniteForCausalLM"}, Types: []string{"granite"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		b := c.Bool(false, "attention_bias")
		f := c.gated()
		f.Bias = c.Bool(false, "mlp_bias")
		graniteSpec(s, repeat(Layer{Attn: c.heads().bias(b, b, b), FFN: f}, c.Layers()))
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		b := m.InLayer(0, "attn_q.bias")
		graniteSpec(s, repeat(Layer{Attn: m.heads(n)[0].bias(b, b, b), FFN: m.gated()}, n))
		return s
	},
}

// granitemoe: the same with routed experts.
var granitemoe = &Family{
	Name: "granitemoe", Classes: []string{"GraniteMoeForCausalLM", "GraniteMoeSharedForCausalLM"}, Types: []string{"granitemoe", "granitemoeshared"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		graniteSpec(s, repeat(Layer{Attn: c.heads(), MoE: c.graniteMoE()}, c.Layers()))
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		graniteSpec(s, repeat(Layer{Attn: m.heads(n)[0], MoE: m.graniteMoE()}, n))
		return s
	},
}

// granitehybrid: Mamba-2 layers with attention in between, each followed by experts and a shared MLP, or
// by the MLP alone.
var granitehybrid = &Family{
	Name: "granitehybrid", Classes: []string{"GraniteMoeHybridForCausalLM"}, Types: []string{"granitemoehybrid"},
	Config: func(c *Config) *Spec {
		s := c.base(true)
		n := c.Layers()
		a := c.heads()
		a.NoRope = c.Str("position_embedding_type") != "rope"
		d := c.IntOr(2, "mamba_expand") * s.Hidden
		h := c.IntOr(1, "mamba_n_heads")
		ssm := SSM{Style: Mamba2, Conv: c.IntOr(4, "mamba_d_conv"), Inner: d, State: c.IntOr(256, "mamba_d_state"), Heads: h, Groups: c.IntOr(1, "mamba_n_groups"),
			BiasIn: c.Bool(false, "mamba_proj_bias"), NoConvBias: !c.Bool(true, "mamba_conv_bias")}
		rest := Layer{MoE: c.graniteMoE()}
		if rest.MoE.Experts == 0 {
			rest.FFN = MLP{Inner: c.Int("shared_intermediate_size", "intermediate_size"), Gated: true}
		}
		types := c.Strs("layer_types")
		graniteSpec(s, hybrid(n, rest, a, ssm, func(i int) bool { return i < len(types) && types[i] == "attention" }))
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		rest := Layer{MoE: m.graniteMoE()}
		if rest.MoE.Experts == 0 {
			rest.FFN = m.gated()
		}
		ssm := m.mamba2()
		attn := m.heads(n)
		layers := repeat(rest, n)
		for i := range layers {
			if attn[i].Heads > 0 {
				layers[i].Attn = attn[i]
				layers[i].Attn.NoRope = !m.Bool(true, "rope.scaling.finetuned")
			} else {
				layers[i].SSM = ssm
			}
		}
		graniteSpec(s, layers)
		return s
	},
}

func graniteSpec(s *Spec, layers []Layer) {
	s.EmbedScale, s.HeadScale = true, true
	for i := range layers {
		layers[i].Norm, layers[i].ResidualScale = RMS, true
	}
	s.Layers = layers
}

func (c *Config) graniteMoE() MoE {
	e := c.IntOr(0, "num_local_experts")
	if e == 0 {
		return MoE{}
	}
	return MoE{Experts: e, Used: c.Int("num_experts_per_tok"), Inner: c.Int("intermediate_size"), Gated: true, Norm: true, Shared: c.IntOr(0, "shared_intermediate_size")}
}

func (m *Meta) graniteMoE() MoE {
	e := m.IntOr(0, "expert_count")
	if e == 0 {
		return MoE{}
	}
	return MoE{Experts: e, Used: m.Int("expert_used_count"), Inner: m.Int("feed_forward_length"), Gated: true, Norm: true, Shared: m.IntOr(0, "expert_shared_feed_forward_length")}
}

// mamba2 reads a Mamba-2 mixer.
func (m *Meta) mamba2() SSM {
	return SSM{Style: Mamba2, Conv: m.Int("ssm.conv_kernel"), Inner: m.Int("ssm.inner_size"), State: m.Int("ssm.state_size"),
		Heads: m.Int("ssm.time_step_rank"), Groups: m.IntOr(1, "ssm.group_count")}
}
