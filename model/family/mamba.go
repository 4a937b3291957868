package family

import "github.com/memwall/memwall/unit"

// mamba: selective state spaces only. Falcon Mamba normalises dt, B and C without weights (arXiv:2410.05355).
var mamba = &Family{
	Name: "mamba", Classes: []string{"MambaForCausalLM", "MambaLMHeadModel", "FalconMambaForCausalLM"}, Types: []string{"mamba", "falcon_mamba"},
	Config: func(c *Config) *Spec {
		s := c.base(true)
		inner := c.IntOr(c.IntOr(2, "expand")*s.Hidden, "intermediate_size", "d_inner")
		rank := c.IntOr(unit.CeilDiv(s.Hidden, 16), "time_step_rank")
		s.Vocab = unit.PadUp(s.Vocab, max(1, c.IntOr(1, "pad_vocab_size_multiple")))
		b := c.Bool(false, "use_bias")
		s.Layers = repeat(Layer{Norm: RMS, Place: Single, SSM: SSM{Style: Mamba1, Conv: c.IntOr(4, "conv_kernel", "d_conv"), Inner: inner, State: c.IntOr(16, "state_size", "d_state"), Rank: rank,
			BiasIn: b, NoConvBias: !c.Bool(true, "use_conv_bias")}}, c.Layers())
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		s.Layers = repeat(Layer{Norm: RMS, Place: Single, SSM: m.mamba1()}, m.Layers())
		return s
	},
}

func (m *Meta) mamba1() SSM {
	return SSM{Style: Mamba1, Conv: m.Int("ssm.conv_kernel"), Inner: m.Int("ssm.inner_size"), State: m.Int("ssm.state_size"), Rank: m.Int("ssm.time_step_rank")}
}

// mamba2Only: state-space duality layers only.
var mamba2Only = &Family{
	Name: "mamba2", Classes: []string{"Mamba2ForCausalLM"}, Types: []string{"mamba2"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		inner := c.IntOr(2, "expand") * s.Hidden
		heads := c.IntOr(unit.CeilDiv(inner, max(1, c.IntOr(64, "head_dim"))), "num_heads")
		s.Layers = repeat(Layer{Norm: RMS, Place: Single, SSM: SSM{Style: Mamba2, Conv: c.IntOr(4, "conv_kernel"), Inner: inner, State: c.IntOr(128, "state_size"),
			Heads: heads, Groups: c.IntOr(8, "n_groups"), BiasIn: c.Bool(false, "use_bias"), NoConvBias: !c.Bool(true, "use_conv_bias")}}, c.Layers())
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		s.Layers = repeat(Layer{Norm: RMS, Place: Single, SSM: m.mamba2()}, m.Layers())
		return s
	},
}

// jamba: Mamba-1 with attention in between; every other layer has experts.
var jamba = &Family{
	Name: "jamba", Classes: []string{"JambaForCausalLM"}, Types: []string{"jamba"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		n := c.Layers()
		a := c.heads()
		a.NoRope = true
		ssm := SSM{Style: Mamba1, Conv: c.IntOr(4, "mamba_d_conv"), Inner: c.IntOr(2, "mamba_expand") * s.Hidden, State: c.IntOr(16, "mamba_d_state"),
			Rank: c.IntOr(unit.CeilDiv(s.Hidden, 16), "mamba_dt_rank"), DBCNorm: true, BiasIn: c.Bool(false, "mamba_proj_bias"), NoConvBias: !c.Bool(true, "mamba_conv_bias")}
		e := MoE{Experts: c.IntOr(16, "num_experts"), Used: c.IntOr(2, "num_experts_per_tok"), Inner: c.Int("intermediate_size"), Gated: true}
		period, offset := max(1, c.IntOr(2, "expert_layer_period")), c.IntOr(1, "expert_layer_offset")
		ap, ao := max(1, c.IntOr(8, "attn_layer_period")), c.IntOr(4, "attn_layer_offset")
		s.Layers = hybrid(n, Layer{Norm: RMS}, a, ssm, func(i int) bool { return int64(i)%ap == ao })
		for i := range s.Layers {
			if e.Experts > 1 && int64(i)%period == offset {
				s.Layers[i].MoE = e
			} else {
				s.Layers[i].FFN = c.gated()
			}
		}
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		ssm := m.mamba1()
		ssm.DBCNorm = true
		e := MoE{Experts: m.IntOr(0, "expert_count"), Used: m.IntOr(0, "expert_used_count"), Inner: m.Int("feed_forward_length"), Gated: true}
		attn := m.heads(n)
		s.Layers = repeat(Layer{Norm: RMS}, n)
		for i := range s.Layers {
			l := &s.Layers[i]
			if attn[i].Heads > 0 {
				l.Attn = attn[i]
				l.Attn.NoRope = true
			} else {
				l.SSM = ssm
			}
			if m.InLayer(i, "ffn_gate_inp.weight") {
				l.MoE = e
			} else {
				l.FFN = m.gated()
			}
		}
		return s
	},
}

// nemotronH: layers with one branch each: Mamba-2, attention, MLP or experts, as a pattern of letters says.
var nemotronH = &Family{
	Name: "nemotron_h", Classes: []string{"NemotronHForCausalLM"}, Types: []string{"nemotron_h"}, GGUF: []string{"nemotron_h_moe"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		b := c.Bool(false, "attention_bias")
		a := c.heads().bias(b, b, b)
		a.NoRope = true
		h := c.Int("mamba_num_heads")
		ssm := SSM{Style: Mamba2, Conv: c.IntOr(4, "conv_kernel"), Inner: h * c.Int("mamba_head_dim"), State: c.Int("ssm_state_size"), Heads: h, Groups: c.IntOr(8, "n_groups"),
			BiasIn: c.Bool(false, "mamba_proj_bias"), NoConvBias: !c.Bool(true, "use_conv_bias")}
		mlp := MLP{Inner: c.Int("intermediate_size"), Bias: c.Bool(false, "mlp_bias"), Act: ReLU2}
		moe := c.nemotronMoE()
		letters := c.nemotronPattern("hybrid_override_pattern", "layers_block_type")
		if n := int(c.IntOr(int64(len(letters)), "num_hidden_layers")); len(letters) != n || n == 0 {
			c.fail("hybrid_override_pattern", nil, "does not have num_hidden_layers letters", "correct the config.json")
		}
		s.Layers = c.nemotronLayers(letters, a, ssm, mlp, moe)
		if k := c.IntOr(0, "num_nextn_predict_layers"); k > 0 {
			step := c.nemotronPattern("mtp_hybrid_override_pattern", "mtp_layers_block_type")
			s.MTP, s.MTPStep = c.nemotronLayers(step, a, ssm, mlp, moe), len(step)
		}
		if moe.Experts > 0 {
			s.Family = "nemotron_h_moe"
		}
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		ff, _ := m.PerLayer("feed_forward_length", n)
		attn := m.heads(n)
		ssm := m.mamba2()
		moe := m.nemotronMoE()
		s.Layers = repeat(Layer{Norm: RMS, Place: Single}, n)
		for i := range s.Layers {
			l := &s.Layers[i]
			switch {
			case attn[i].Heads > 0:
				l.Attn = attn[i]
				l.Attn.NoRope = true
			case m.InLayer(i, "ffn_gate_inp.weight"):
				l.MoE = moe
			case i < len(ff) && ff[i] > 0:
				l.FFN = MLP{Inner: ff[i], Act: ReLU2}
			default:
				l.SSM = ssm
			}
		}
		return s
	},
}

// nemotronPattern gives the letters M (Mamba), * (attention), - (MLP), E (experts).
func (c *Config) nemotronPattern(key, list string) string {
	p := c.Str(key)
	types := c.Strs(list)
	if len(p) > 2*maxLayers || len(types) > maxLayers {
		c.fail(key, nil, "has more layers than memwall accepts", "correct the config.json")
		return ""
	}
	if p != "" {
		return p
	}
	out := ""
	for _, t := range types {
		switch t {
		case "mamba":
			out += "M"
		case "attention":
			out += "*"
		case "moe":
			out += "E"
		default:
			out += "-"
		}
	}
	return out
}

func (c *Config) nemotronLayers(letters string, a Attention, ssm SSM, mlp MLP, moe MoE) []Layer {
	out := make([]Layer, 0, len(letters))
	for _, r := range letters {
		l := Layer{Norm: RMS, Place: Single}
		switch r {
		case 'M':
			l.SSM = ssm
		case '*':
			l.Attn = a
		case '-':
			l.FFN = mlp
		case 'E':
			l.MoE = moe
		case '|':
			continue
		default:
			c.fail("hybrid_override_pattern", string(r), "is not one of M * - E", "correct the config.json")
		}
		out = append(out, l)
	}
	return out
}

func (c *Config) nemotronMoE() MoE {
	e := c.IntOr(0, "n_routed_experts")
	if e == 0 {
		return MoE{}
	}
	return MoE{Experts: e, Used: c.Int("num_experts_per_tok"), Inner: c.Int("moe_intermediate_size"), Shared: c.IntOr(0, "moe_shared_expert_intermediate_size") * c.IntOr(1, "n_shared_experts"),
		Sigmoid: true, ChoiceBias: true, Norm: true, Scaled: true, Latent: c.IntOr(0, "moe_latent_size"), Act: ReLU2}
}

func (m *Meta) nemotronMoE() MoE {
	e := m.IntOr(0, "expert_count")
	if e == 0 {
		return MoE{}
	}
	return MoE{Experts: e, Used: m.Int("expert_used_count"), Inner: m.Int("expert_feed_forward_length"), Shared: m.IntOr(0, "expert_shared_feed_forward_length"),
		Sigmoid: true, ChoiceBias: true, Norm: true, Scaled: true, Latent: m.IntOr(0, "moe_latent_size"), Act: ReLU2}
}
