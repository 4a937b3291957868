package family

// exaone: EXAONE 3 and 3.5: llama under other keys (arXiv:2408.03541; LGAI-EXAONE/EXAONE-3.5-7.8B-Instruct,
// modeling_exaone.py).
var exaone = &Family{
	Name: "exaone", Classes: []string{"ExaoneForCausalLM"}, Types: []string{"exaone"},
	Config: llama.Config,
	Header: llama.Header,
}

// exaone4: norms after each branch instead of before, normalised queries and keys; where layers slide, the others
// have no rotary positions (arXiv:2507.11407; transformers, models/exaone4).
var exaone4 = &Family{
	Name: "exaone4", Classes: []string{"Exaone4ForCausalLM"}, Types: []string{"exaone4", "exaone4_5_text"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		a := normed(c.heads())
		if c.ropeType() == "llama3" {
			s.Tables = []Table{ropeTable(a.DimK / 2)}
		}
		exaone4Spec(s, repeat(Layer{Norm: RMS, Place: PostNorm, Attn: a, FFN: c.gated()}, c.Layers()), c.exaoneWindow(), c.sliding(c.Layers(), 1))
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		w := m.IntOr(0, "attention.sliding_window")
		l := Layer{Norm: RMS, Place: PostNorm, Attn: normed(m.heads(n)[0]), FFN: m.gated()}
		exaone4Spec(s, repeat(l, n), w, m.windows(n, 4))
		return s
	},
}

// exaoneMoE: K-EXAONE: norms before each branch, experts as in DeepSeek-V3 behind a dense layer (transformers,
// models/exaone_moe).
var exaoneMoE = &Family{
	Name: "exaone-moe", Classes: []string{"ExaoneMoEForCausalLM", "ExaoneMoeForCausalLM"}, Types: []string{"exaone_moe"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		n := c.Layers()
		e := MoE{Experts: c.Int("num_experts"), Used: c.Int("num_experts_per_tok"), Inner: c.Int("moe_intermediate_size"), Gated: true,
			Sigmoid: true, ChoiceBias: true, Norm: c.Bool(true, "norm_topk_prob"), Scaled: true}
		e.Shared = e.Inner * c.IntOr(0, "num_shared_experts")
		e = e.grouped(c.IntOr(0, "n_group"), c.IntOr(0, "topk_group"))
		layers := denseFirst(n, int(c.IntOr(1, "first_k_dense_replace")), 1, Layer{Norm: RMS, Attn: normed(c.heads())}, c.gated(), e)
		exaone4Spec(s, layers, c.exaoneWindow(), c.sliding(n, 4))
		if k := c.IntOr(0, "num_nextn_predict_layers"); k > 0 {
			s.MTP = repeat(Layer{Norm: RMS, Attn: normed(c.heads()), FFN: c.gated()}, int(min(k, 8)))
		}
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.turnedWhereSliding(4)
		for i := range s.Layers {
			s.Layers[i].Attn.LocalFactors = s.Layers[i].Attn.Window > 0
		}
		return s
	},
}

// exaoneWindow is 0 where no layer slides: the 1.2B names none.
func (c *Config) exaoneWindow() int64 { return c.IntOr(0, "sliding_window") }

func exaone4Spec(s *Spec, layers []Layer, window int64, slides []bool) {
	for i := range layers {
		a := &layers[i].Attn
		switch {
		case window == 0:
		case slides[i]:
			a.Window, a.LocalFactors = window, true
		default:
			a.NoRope = true
		}
	}
	s.Layers = layers
}

// exaone45: EXAONE 4.5 (arXiv:2604.08644; transformers, models/exaone4_5): EXAONE 4.0 with a prediction layer, beside Qwen2.5-VL's
// encoder with grouped heads of keys and values.
var exaone45 = &Family{
	Name: "exaone4.5", Classes: []string{"Exaone4_5_ForConditionalGeneration"}, Types: []string{"exaone4_5"},
	Config: func(c *Config) *Spec {
		x := c.part("text_config")
		s := exaone4.Config(x)
		s.Family = exaone4.Name
		s.MTP = s.mtpOf(x.IntOr(c.IntOr(0, "num_nextn_predict_layers"), "num_nextn_predict_layers", "mtp_num_layers"))
		s.Vision = c.part("vision_config").qwen25Vision()
		return c.outerTie(s)
	},
}
