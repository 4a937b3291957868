package family

// internlm: llama with biases on all four matrices of attention (internlm/internlm-7b, modeling_internlm.py).
var internlm = &Family{
	Name: "internlm", Classes: []string{"InternLMForCausalLM"}, Types: []string{"internlm"},
	Config: func(c *Config) *Spec {
		b := c.Bool(true, "bias")
		return c.internlm(b, b)
	},
}

// internlm2: grouped queries, one matrix for queries, keys and values, which converted files part
// (arXiv:2403.17297; internlm/internlm2-7b, modeling_internlm2.py). Its reward models end in one score.
var internlm2 = &Family{
	Name: "internlm2", Classes: []string{"InternLM2ForCausalLM", "InternLM2ForRewardModel"}, Types: []string{"internlm2"},
	Config: func(c *Config) *Spec {
		if c.Str("model_type") == "internlmxcomposer2" {
			return c.xcomposer2()
		}
		b := c.Bool(false, "bias")
		s := c.internlm(b, b)
		if c.Class() == "InternLM2ForRewardModel" {
			s.Score = 1
		}
		return s
	},
	Header: llama.Header,
}

// internlm3: llama; its flags say which matrices have biases (internlm/internlm3-8b-instruct,
// modeling_internlm3.py).
var internlm3 = &Family{
	Name: "internlm3", Classes: []string{"InternLM3ForCausalLM"}, Types: []string{"internlm3"},
	Config: func(c *Config) *Spec {
		s := c.internlm(c.Bool(false, "qkv_bias"), c.Bool(false, "bias"))
		for i := range s.Layers {
			s.Layers[i].FFN.Bias = c.Bool(false, "bias")
		}
		return s
	},
}

func (c *Config) internlm(qkv, out bool) *Spec {
	s := c.base(false)
	s.Layers = repeat(Layer{Norm: RMS, Attn: c.heads().bias(qkv, qkv, out), FFN: c.gated()}, c.Layers())
	return s
}
