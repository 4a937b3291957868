package family

// Architectures that are llama's under another name: the same tensors, and the same keys of config.json. Each is its own
// class in transformers or in the publisher's repository, and its own architecture in GGUF files where one is named.
var (
	xverse     = likeLlama("xverse", "XverseForCausalLM", "xverse")
	aquila     = likeLlama("aquila", "AquilaForCausalLM", "aquila") // BAAI/AquilaChat-7B, modeling_aquila.py
	yi         = likeLlama("yi", "YiForCausalLM", "Yi")
	ministral3 = likeLlama("mistral3", "Ministral3ForCausalLM", "ministral3")
)

func likeLlama(name, class, kind string) *Family {
	return &Family{Name: name, Classes: []string{class}, Types: []string{kind}, Config: llama.Config, Header: llama.Header}
}

// k2Horizon: llama, where it has no experts (IFM/K2-Horizon-7B, modeling_k2_horizon.py).
var k2Horizon = &Family{
	Name: "k2-horizon", Classes: []string{"K2HorizonForCausalLM"}, Types: []string{"k2_horizon"},
	Config: func(c *Config) *Spec {
		if n := c.IntOr(0, "num_experts"); n > 0 {
			c.lacks("num_experts", n, "is of K2 Horizon MoVA, whose attention and experts are not described", fromFiles)
		}
		return llama.Config(c)
	},
	Header: llama.Header,
}

// pangu: llama with biases on all four matrices of attention (openPangu-Embedded, modeling_openpangu_dense.py).
var pangu = &Family{
	Name: "pangu-embedded", Classes: []string{"PanguEmbeddedForCausalLM", "PanguForCausalLM"}, Types: []string{"PanguEmbedded"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		b := c.Bool(true, "bias")
		s.Layers = repeat(Layer{Norm: RMS, Attn: c.heads().bias(b, b, b), FFN: c.gated()}, c.Layers())
		return s
	},
	Header: llama.Header,
}

// smollm3: llama of which every fourth layer has no rotary positions (transformers, models/smollm3).
var smollm3 = &Family{
	Name: "smollm3", Classes: []string{"SmolLM3ForCausalLM"}, Types: []string{"smollm3"},
	Config: func(c *Config) *Spec {
		s := c.base(true)
		n := c.Layers()
		b := c.Bool(false, "attention_bias")
		f := c.gated()
		f.Bias = c.Bool(false, "mlp_bias")
		s.Layers = repeat(Layer{Norm: RMS, Attn: c.heads().bias(b, b, b), FFN: f}, n)
		for i, turns := range c.turning(n, 4) {
			s.Layers[i].Attn.NoRope = !turns
		}
		return s
	},
	Header: func(m *Meta) *Spec {
		s := llama.Header(m)
		for i := range s.Layers {
			s.Layers[i].Attn.NoRope = (i+1)%4 == 0
		}
		return s
	},
}

// turning says which layers have rotary positions: no_rope_layers holds 1 for those that do; without it all but
// each period-th.
func (c *Config) turning(n int, period int64) []bool {
	period = c.IntOr(period, "no_rope_layer_interval")
	list := c.Ints("no_rope_layers")
	out := make([]bool, n)
	for i := range out {
		out[i] = period < 1 || int64(i+1)%period != 0
		if len(list) >= n {
			out[i] = list[i] != 0
		}
	}
	return out
}

// arcee: llama with an ungated MLP of squared ReLU (transformers, models/arcee).
var arcee = &Family{
	Name: "arcee", Classes: []string{"ArceeForCausalLM"}, Types: []string{"arcee"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		b := c.Bool(false, "attention_bias")
		mlp := MLP{Inner: c.Int("intermediate_size"), Bias: c.Bool(false, "mlp_bias"), Act: ReLU2}
		s.Layers = repeat(Layer{Norm: RMS, Attn: c.heads().bias(b, b, b), FFN: mlp}, c.Layers())
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		s.Layers = repeat(Layer{Norm: RMS, Attn: m.heads(n)[0], FFN: MLP{Inner: m.Int("feed_forward_length"), Act: ReLU2}}, n)
		return s
	},
}

// seedOSS: llama with biases on queries, keys and values (transformers, models/seed_oss).
var seedOSS = &Family{
	Name: "seed_oss", Classes: []string{"SeedOssForCausalLM"}, Types: []string{"seed_oss"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		b := c.Bool(true, "attention_bias")
		f := c.gated()
		f.Bias = c.Bool(false, "mlp_bias")
		a := c.heads().bias(b, b, c.Bool(false, "attention_out_bias"))
		s.Layers = repeat(Layer{Norm: RMS, Place: PreNormPost, Attn: a, FFN: f}, c.Layers())
		return s
	},
	Header: func(m *Meta) *Spec {
		s := llama.Header(m)
		for i := range s.Layers {
			s.Layers[i].Place = PreNormPost
		}
		return s
	},
}

// orion: llama with layer norms that have biases (OrionStarAI/Orion-14B-Base, modeling_orion.py).
var orion = &Family{
	Name: "orion", Classes: []string{"OrionForCausalLM"}, Types: []string{"orion"},
	Config: func(c *Config) *Spec { return normedBy(LayerNormBias, llama.Config(c)) },
	Header: func(m *Meta) *Spec { return normedBy(LayerNormBias, llama.Header(m)) },
}

// olmo: llama with layer norms that have no weights at all (arXiv:2402.00838; transformers, models/olmo). OLMo 2 and 3
// are another architecture.
var olmo = &Family{
	Name: "olmo", Classes: []string{"OlmoForCausalLM"}, Types: []string{"olmo"},
	Config: func(c *Config) *Spec { return normedBy(PlainNorm, llama.Config(c)) },
	Header: func(m *Meta) *Spec { return normedBy(PlainNorm, llama.Header(m)) },
}

func normedBy(k NormKind, s *Spec) *Spec {
	s.OutNorm = k
	for i := range s.Layers {
		s.Layers[i].Norm = k
	}
	return s
}

// baichuan: llama with one matrix for queries, keys and values, which converted files part; the 13B has ALiBi
// (arXiv:2309.10305; baichuan-inc/Baichuan2-13B-Chat, modeling_baichuan.py).
var baichuan = &Family{
	Name: "baichuan", Classes: []string{"BaichuanForCausalLM", "BaiChuanForCausalLM"}, Types: []string{"baichuan"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		if s.Context == 0 {
			s.Context = c.IntOr(0, "model_max_length")
		}
		a := c.heads()
		a.NoRope = s.Hidden == baichuanALiBi
		if a.NoRope {
			s.Source.Rotary = nil
		}
		s.Layers = repeat(Layer{Norm: RMS, Attn: a, FFN: c.gated()}, c.Layers())
		return s
	},
	Header: func(m *Meta) *Spec {
		s := llama.Header(m)
		for i := range s.Layers {
			s.Layers[i].Attn.NoRope = s.Hidden == baichuanALiBi
		}
		return s
	},
}

// baichuanALiBi is the width of the 13B: no key of the config says which positions a Baichuan has.
const baichuanALiBi = 5120
