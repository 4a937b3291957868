package family

// apertus: queries and keys normalised per head, an ungated MLP of xIELU, whose two numbers are learned
// (arXiv:2509.14233; transformers, models/apertus).
var apertus = &Family{
	Name: "apertus", Classes: []string{"ApertusForCausalLM"}, Types: []string{"apertus"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		b := c.Bool(false, "attention_bias")
		a := normed(c.heads().bias(b, b, b))
		if c.ropeType() == "llama3" {
			s.Tables = []Table{ropeTable(a.DimK / 2)}
		}
		mlp := MLP{Inner: c.Int("intermediate_size"), Bias: c.Bool(false, "mlp_bias"), Act: XIELU}
		s.Layers = repeat(Layer{Norm: RMS, Attn: a, FFN: mlp}, c.Layers())
		return s
	},
	Header: func(m *Meta) *Spec { return m.probed(0, XIELU) },
}

// minicpm: llama with constants on embedding, residuals and the head's input (arXiv:2404.06395; openbmb/MiniCPM-2B,
// modeling_minicpm.py).
var minicpm = &Family{
	Name: "minicpm", Classes: []string{"MiniCPMForCausalLM"}, Types: []string{"minicpm"},
	Config: func(c *Config) *Spec {
		s := minicpmSpec(llama.Config(c), c.Bool(true, "tie_word_embeddings"))
		if c.ropeType() == "longrope" {
			s.Tables = longTables(c.heads().DimK / 2)
		}
		return s
	},
	Header: func(m *Meta) *Spec {
		s := llama.Header(m)
		return minicpmSpec(s, s.Tied)
	},
}

func minicpmSpec(s *Spec, tied bool) *Spec {
	s.Tied, s.EmbedScale, s.HeadInput = tied, true, true
	for i := range s.Layers {
		s.Layers[i].ResidualScale = true
	}
	return s
}

// grok: norms before and after each branch, experts of GELU, capped scores and logits (xai-org/grok-1, model.py).
var grok = &Family{
	Name: "grok", Classes: []string{"Grok1ForCausalLM", "Grok1ModelForCausalLM", "GrokForCausalLM"}, Types: []string{"grok-1", "grok-1-hf"},
	Config: func(c *Config) *Spec {
		s := c.base(true)
		a := c.heads()
		a.Cap = true
		s.EmbedScale, s.HeadScale = true, true
		e := MoE{Experts: c.Int("num_experts", "num_local_experts"), Used: c.IntOr(2, "num_selected_experts", "num_experts_per_tok"),
			Inner: c.Int("moe_intermediate_size", "intermediate_size"), Gated: true, Act: GELU}
		if c.Bool(false, "residual_moe") { // Grok-2: a dense branch beside the experts
			e.Shared = c.Int("intermediate_size")
		}
		s.Layers = repeat(Layer{Norm: RMS, Place: SandwichOut, Attn: a, MoE: e}, c.Layers())
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.probed(0, GELU)
		s.EmbedScale, s.HeadScale = true, true
		for i := range s.Layers {
			s.Layers[i].Attn.Cap = true
		}
		return s
	},
}
