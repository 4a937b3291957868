package family

// falcon: attention and MLP side by side without biases, tied head (arXiv:2311.16867; transformers,
// models/falcon/modeling_falcon.py). The 7B has one norm and one KV head, the 40B and 180B ("new decoder architecture")
// a norm for each branch and grouped KV heads; the 1B models of RefinedWeb are sequential, with biases and ALiBi.
var falcon = &Family{
	Name: "falcon", Classes: []string{"FalconForCausalLM", "RWForCausalLM"}, Types: []string{"falcon", "RefinedWeb", "RefinedWebModel"},
	Config: func(c *Config) *Spec {
		s := c.base(true)
		s.OutNorm = LayerNormBias
		b := c.Bool(false, "bias")
		a := c.falconHeads().bias(b, b, b)
		a.Fused, a.NoRope = true, c.Bool(false, "alibi")
		if a.NoRope {
			s.Source.Rotary = nil
		}
		l := Layer{Norm: LayerNormBias, Attn: a, FFN: MLP{Inner: c.IntOr(4*s.Hidden, "ffn_hidden_size"), Bias: b, Act: GELU}}
		l.Place, l.Sum = c.falconPlace(), FFNBranches
		s.Layers = repeat(l, c.Layers())
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		s.OutNorm = LayerNormBias
		a := m.heads(n)[0]
		a.Fused = true
		l := Layer{Norm: LayerNormBias, Place: Parallel, Sum: FFNBranches, Attn: a, FFN: MLP{Inner: m.Int("feed_forward_length"), Act: GELU}}
		if m.InLayer(0, "attn_norm_2.weight") {
			l.Place = Parallel2Attn
		}
		s.Layers = repeat(l, n)
		return s
	},
}

// falconGrouped: whether layers are those of the 40B and 180B. Configs of before transformers 4.33 say it by their
// model type alone.
func (c *Config) falconGrouped() bool {
	return c.Bool(c.Str("model_type") == "RefinedWeb", "new_decoder_architecture")
}

// falconHeads: only the new architecture reads a number of KV heads; before it there was one, or as many as
// heads.
func (c *Config) falconHeads() Attention {
	a := c.heads()
	switch {
	case c.falconGrouped():
	case c.Bool(true, "multi_query"):
		a.KVHeads = 1
	default:
		a.KVHeads = a.Heads
	}
	return a
}

func (c *Config) falconPlace() NormPlace {
	switch {
	case c.falconGrouped() && c.IntOr(2, "num_ln_in_parallel_attn") == 2:
		return Parallel2Attn
	case c.falconGrouped(), c.Bool(true, "parallel_attn"):
		return Parallel
	}
	return PreNorm
}
