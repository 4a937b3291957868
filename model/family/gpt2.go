package family

// gpt2: learned positions, fused qkv, biases, layer norms, tied head (Radford et al. 2019; transformers,
// models/gpt2/modeling_gpt2.py). Cerebras-GPT is the same.
var gpt2 = &Family{
	Name: "gpt2", Classes: []string{"GPT2LMHeadModel", "GPT2Model"}, Types: []string{"gpt2"},
	Config: func(c *Config) *Spec {
		s := c.base(true)
		gpt2Spec(s, c.heads(), c.IntOr(4*s.Hidden, "n_inner"), c.Layers())
		s.NoHead = c.Class() == "GPT2Model"
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		gpt2Spec(s, m.heads(n)[0], m.Int("feed_forward_length"), n)
		s.Positions = m.Rows("position_embd.weight")
		return s
	},
}

// rugpt3xl: GPT-2 with a matrix each for queries, keys and values, and a head of its own where the config says so; its
// attention is sparse in every second layer, and still keeps all keys and values (evilfreelancer/ruGPT3XL,
// modeling_rugpt3xl.py).
var rugpt3xl = &Family{
	Name: "rugpt3xl", Classes: []string{"RuGPT3XLForCausalLM"}, Types: []string{"rugpt3xl"},
	Config: func(c *Config) *Spec {
		s := c.base(true)
		gpt2Spec(s, c.heads(), c.Int("intermediate_size"), c.Layers())
		for i := range s.Layers {
			s.Layers[i].Attn.Fused = false
		}
		return s
	},
}

// gptbigcode: GPT-2 whose heads share one key and one value: SantaCoder, StarCoder, Granite 20B and 34B code
// (arXiv:2305.06161; transformers, models/gpt_bigcode/modeling_gpt_bigcode.py).
var gptbigcode = &Family{
	Name: "starcoder", Classes: []string{"GPTBigCodeForCausalLM"}, Types: []string{"gpt_bigcode"},
	Config: func(c *Config) *Spec {
		s := c.base(true)
		a := c.heads()
		if c.Bool(true, "multi_query") {
			a.KVHeads = 1
		}
		gpt2Spec(s, a, c.IntOr(4*s.Hidden, "n_inner"), c.Layers())
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		gpt2Spec(s, m.heads(n)[0], m.Int("feed_forward_length"), n)
		s.Positions = m.Rows("position_embd.weight")
		return s
	},
}

func gpt2Spec(s *Spec, a Attention, inner int64, n int) {
	s.Source.Rotary = nil
	s.Positions, s.OutNorm = s.Context, LayerNormBias
	a = a.bias(true, true, true)
	a.Fused, a.NoRope = true, true
	s.Layers = repeat(Layer{Norm: LayerNormBias, Attn: a, FFN: MLP{Inner: inner, Bias: true, Act: GELU}}, n)
}

// codeshell: rotary positions, grouped queries, fused qkv, biases, tied head (WisdomShell/CodeShell,
// modeling_codeshell.py).
var codeshell = &Family{
	Name: "codeshell", Classes: []string{"CodeShellForCausalLM", "CodeShell4bitForCausalLM"}, Types: []string{"codeshell"},
	Config: func(c *Config) *Spec {
		s := c.base(true)
		a := c.heads()
		if !c.Bool(false, "group_query_attention") {
			a.KVHeads = a.Heads
		}
		codeshellSpec(s, a, c.IntOr(4*s.Hidden, "n_inner"), c.Layers())
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		codeshellSpec(s, m.heads(n)[0], m.Int("feed_forward_length"), n)
		return s
	},
}

func codeshellSpec(s *Spec, a Attention, inner int64, n int) {
	s.OutNorm = LayerNormBias
	a = a.bias(true, true, true)
	a.Fused = true
	s.Layers = repeat(Layer{Norm: LayerNormBias, Attn: a, FFN: MLP{Inner: inner, Bias: true, Act: GELU}}, n)
}
