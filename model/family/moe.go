package family

// gptoss: alternating windows, attention sinks, biases throughout, experts in every layer.
var gptoss = &Family{
	Name: "gpt-oss", Classes: []string{"GptOssForCausalLM"}, Types: []string{"gpt_oss"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		n := c.Layers()
		e := MoE{Experts: c.Int("num_local_experts"), Used: c.Int("num_experts_per_tok", "experts_per_token"), Inner: c.Int("intermediate_size")}
		gptossSpec(s, c.heads(), e, c.IntOr(128, "sliding_window"), c.sliding(n, 2))
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		e := MoE{Experts: m.Int("expert_count"), Used: m.Int("expert_used_count"), Inner: m.Int("expert_feed_forward_length")}
		gptossSpec(s, m.heads(n)[0], e, m.IntOr(128, "attention.sliding_window"), m.windows(n, 2))
		return s
	},
}

func gptossSpec(s *Spec, a Attention, e MoE, window int64, slides []bool) {
	a = a.bias(true, true, true)
	a.Sinks = true
	e.Gated, e.Bias, e.SoftLate = true, true, true
	s.Layers = repeat(Layer{Norm: RMS, Place: PreNormPost, Attn: a, MoE: e}, len(slides))
	for i := range s.Layers {
		if slides[i] {
			s.Layers[i].Attn.Window = window
		}
	}
}

// minimaxM2: full-width norms of queries and keys, sigmoid routing in every layer.
var minimaxM2 = &Family{
	Name: "minimax-m2", Classes: []string{"MiniMaxM2ForCausalLM"}, Types: []string{"minimax_m2"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		e := MoE{Experts: c.Int("num_local_experts"), Used: c.Int("num_experts_per_tok"), Inner: c.Int("intermediate_size"), ChoiceBias: c.Bool(true, "use_routing_bias")}
		minimaxSpec(s, c.heads(), e, c.Layers())
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		e := MoE{Experts: m.Int("expert_count"), Used: m.Int("expert_used_count"), Inner: m.Int("expert_feed_forward_length"), ChoiceBias: m.InLayer(0, "exp_probs_b.bias")}
		minimaxSpec(s, m.heads(n)[0], e, n)
		return s
	},
}

func minimaxSpec(s *Spec, a Attention, e MoE, n int) {
	a.QKNorm = FullWidth
	e.Gated, e.Sigmoid, e.Norm = true, true, true
	s.Layers = repeat(Layer{Norm: RMS, Attn: a, MoE: e}, n)
}

// olmoe: full-width norms of queries and keys, softmax routing without normalised weights.
var olmoe = &Family{
	Name: "olmoe", Classes: []string{"OlmoeForCausalLM"}, Types: []string{"olmoe"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		a := c.heads()
		a.QKNorm = FullWidth
		e := MoE{Experts: c.Int("num_experts"), Used: c.Int("num_experts_per_tok"), Inner: c.Int("intermediate_size"), Gated: true, Norm: c.Bool(false, "norm_topk_prob")}
		s.Layers = repeat(Layer{Norm: RMS, Attn: a, MoE: e}, c.Layers())
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		a := m.heads(n)[0]
		a.QKNorm = FullWidth
		e := MoE{Experts: m.Int("expert_count"), Used: m.Int("expert_used_count"), Inner: m.IntOr(m.Int("feed_forward_length"), "expert_feed_forward_length"), Gated: true}
		s.Layers = repeat(Layer{Norm: RMS, Attn: a, MoE: e}, n)
		return s
	},
}
