package family

// commandR: one norm without bias, attention and MLP side by side, tied and scaled head.
var commandR = &Family{
	Name: "command-r", Classes: []string{"CohereForCausalLM"}, Types: []string{"cohere"},
	Config: func(c *Config) *Spec {
		s := c.base(true)
		a := c.heads()
		if c.Bool(false, "use_qk_norm") {
			a.QKNorm = EachHead
		}
		cohereSpec(s, repeat(Layer{Attn: a, FFN: c.gated()}, c.Layers()))
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		a := m.heads(n)[0]
		if m.InLayer(0, "attn_q_norm.weight") {
			a.QKNorm = EachHead
		}
		cohereSpec(s, repeat(Layer{Attn: a, FFN: m.gated()}, n))
		return s
	},
}

// cohere2: Command R7B, Command A: three sliding layers with rotary positions to one full without.
var cohere2 = &Family{
	Name: "cohere2", Classes: []string{"Cohere2ForCausalLM"}, Types: []string{"cohere2"},
	Config: func(c *Config) *Spec {
		s := c.base(true)
		n := c.Layers()
		cohereSpec(s, cohere2Layers(Layer{Attn: c.heads(), FFN: c.gated()}, c.IntOr(4096, "sliding_window"), c.sliding(n, 4)))
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		cohereSpec(s, cohere2Layers(Layer{Attn: m.heads(n)[0], FFN: m.gated()}, m.IntOr(4096, "attention.sliding_window"), m.windows(n, 4)))
		return s
	},
}

// cohere2MoE: Command A+ and North: the same with experts beside the attention, dense layers first (transformers,
// models/cohere2_moe).
var cohere2MoE = &Family{
	Name: "cohere2-moe", Classes: []string{"Cohere2MoeForCausalLM"}, Types: []string{"cohere2_moe"},
	Config: func(c *Config) *Spec {
		s := c.base(true)
		n := c.Layers()
		e := MoE{Experts: c.Int("num_experts"), Used: c.Int("num_experts_per_tok"), Inner: c.Int("intermediate_size"), Gated: true, Norm: c.Bool(true, "norm_topk_prob"),
			Sigmoid: c.Str("expert_selection_fn") == "sigmoid"}
		e.Shared = e.Inner * c.IntOr(0, "num_shared_experts")
		f := MLP{Inner: c.IntOr(c.Int("intermediate_size"), "prefix_dense_intermediate_size"), Gated: true}
		layers := denseFirst(n, int(c.IntOr(0, "first_k_dense_replace")), 1, Layer{Attn: c.heads()}, f, e)
		window := c.IntOr(4096, "sliding_window")
		for i, slides := range c.sliding(n, 4) {
			if layers[i].Attn.NoRope = !slides; slides {
				layers[i].Attn.Window = window
			}
		}
		cohereSpec(s, layers)
		return s
	},
}

func cohere2Layers(l Layer, window int64, slides []bool) []Layer {
	out := repeat(l, len(slides))
	for i := range out {
		if slides[i] {
			out[i].Attn.Window = window
		} else {
			out[i].Attn.NoRope = true
		}
	}
	return out
}

func cohereSpec(s *Spec, layers []Layer) {
	s.OutNorm, s.HeadScale = LayerNorm, true
	for i := range layers {
		layers[i].Norm, layers[i].Place = LayerNorm, Parallel
	}
	s.Layers = layers
}

// olmo2: norms after each branch instead of before, full-width norms of queries and keys. OLMo 3 adds
// sliding layers.
var olmo2 = &Family{
	Name: "olmo2", Classes: []string{"Olmo2ForCausalLM", "Olmo3ForCausalLM"}, Types: []string{"olmo2", "olmo3"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		n := c.Layers()
		slides := make([]bool, n)
		if c.Has("sliding_window") && c.Has("layer_types") {
			slides = c.sliding(n, 4)
		}
		olmo2Spec(s, c.heads(), c.gated(), c.IntOr(0, "sliding_window"), slides)
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		w := m.IntOr(0, "attention.sliding_window")
		slides := make([]bool, n)
		if w > 0 {
			slides = m.windows(n, 4)
		}
		olmo2Spec(s, m.heads(n)[0], m.gated(), w, slides)
		return s
	},
}

func olmo2Spec(s *Spec, a Attention, f MLP, window int64, slides []bool) {
	a.QKNorm = FullWidth
	s.Layers = repeat(Layer{Norm: RMS, Place: PostNorm, Attn: a, FFN: f}, len(slides))
	for i := range s.Layers {
		if slides[i] {
			s.Layers[i].Attn.Window = window
		}
	}
}

// olmoHybrid: OLMo Hybrid (Ai2 2026; transformers, models/olmo_hybrid): three gated delta nets with a norm before each branch, then a
// layer of OLMo 2. Sizes that a config leaves out come of the heads.
var olmoHybrid = &Family{
	Name: "olmo-hybrid", Classes: []string{"OlmoHybridForCausalLM"}, Types: []string{"olmo_hybrid"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		n := c.Layers()
		a := c.heads()
		a.QKNorm = FullWidth
		kh, vh := c.IntOr(a.Heads, "linear_num_key_heads"), c.IntOr(a.Heads, "linear_num_value_heads")
		key := c.IntOr(s.Hidden*3/4/max(1, kh), "linear_key_head_dim")
		ssm := SSM{Style: DeltaNet, Conv: c.IntOr(4, "linear_conv_kernel_dim"), Inner: vh * c.IntOr(2*key, "linear_value_head_dim"), State: key,
			Heads: vh, Groups: kh, SplitBA: true, NoConvBias: true}
		types := c.Strs("layer_types")
		s.Layers = hybrid(n, Layer{Norm: RMS, FFN: c.gated()}, a, ssm, func(i int) bool {
			return len(types) >= n && types[i] == "full_attention" || len(types) < n && i%4 == 3
		})
		for i := range s.Layers {
			if s.Layers[i].Attn.Heads > 0 {
				s.Layers[i].Place = PostNorm
			}
		}
		return s
	},
}

// stablelm: layer norms with biases; the 12B variant is parallel and normalises each head.
var stablelm = &Family{
	Name: "stablelm", Classes: []string{"StableLmForCausalLM", "StableLMEpochForCausalLM"}, Types: []string{"stablelm", "stablelm_epoch"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		b := c.Bool(false, "use_qkv_bias")
		a := c.heads().bias(b, b, false)
		if c.Bool(false, "qk_layernorm") {
			a.QKNorm = EachHead
		}
		stablelmSpec(s, a, c.gated(), c.Bool(false, "use_parallel_residual"), c.Layers())
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		b := m.InLayer(0, "attn_q.bias")
		a := m.heads(n)[0].bias(b, b, false)
		if m.InLayer(0, "attn_q_norm.weight") {
			a.QKNorm = EachHead
		}
		stablelmSpec(s, a, m.gated(), !m.InLayer(0, "ffn_norm.weight"), n)
		return s
	},
}

func stablelmSpec(s *Spec, a Attention, f MLP, parallel bool, n int) {
	s.OutNorm = LayerNormBias
	l := Layer{Norm: LayerNormBias, Attn: a, FFN: f}
	if parallel {
		l.Place, l.Sum = Parallel, MixerFirst
	}
	s.Layers = repeat(l, n)
}

// starcoder2: layer norms and biases, ungated MLP.
var starcoder2 = &Family{
	Name: "starcoder2", Classes: []string{"Starcoder2ForCausalLM"}, Types: []string{"starcoder2"},
	Config: func(c *Config) *Spec {
		s := c.base(true)
		b := c.Bool(true, "use_bias")
		a := c.heads().bias(b, b, b)
		a.Window = c.IntOr(0, "sliding_window")
		starcoder2Spec(s, a, MLP{Inner: c.Int("intermediate_size"), Bias: b}, c.Layers())
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		b := m.InLayer(0, "attn_q.bias")
		starcoder2Spec(s, m.heads(n)[0].bias(b, b, b), MLP{Inner: m.Int("feed_forward_length"), Bias: b}, n)
		return s
	},
}

func starcoder2Spec(s *Spec, a Attention, f MLP, n int) {
	s.OutNorm = LayerNormBias
	f.Act = GELU
	s.Layers = repeat(Layer{Norm: LayerNormBias, Attn: a, FFN: f}, n)
}

// bloom: ALiBi, fused qkv, biases, a norm right after the embedding.
var bloom = &Family{
	Name: "bloom", Classes: []string{"BloomForCausalLM"}, Types: []string{"bloom"},
	Config: func(c *Config) *Spec {
		s := c.base(true)
		a := c.heads()
		bloomSpec(s, a, c.IntOr(4*s.Hidden, "n_inner", "intermediate_size"), c.Layers())
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		bloomSpec(s, m.heads(n)[0], m.Int("feed_forward_length"), n)
		return s
	},
}

func bloomSpec(s *Spec, a Attention, inner int64, n int) {
	s.EmbedNorm, s.OutNorm = LayerNormBias, LayerNormBias
	a = a.bias(true, true, true)
	a.Fused, a.NoRope = true, true
	s.Layers = repeat(Layer{Norm: LayerNormBias, Attn: a, FFN: MLP{Inner: inner, Bias: true, Act: GELU}}, n)
}
