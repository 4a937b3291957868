package family

// deepseek2: latent attention; a few dense layers, then routed and shared experts. V2, V2-Lite, V3, R1,
// Kimi-K2.
var deepseek2 = &Family{
	Name: "deepseek2", Classes: []string{"DeepseekV2ForCausalLM", "DeepseekV3ForCausalLM", "Mistral4ForCausalLM"}, Types: []string{"deepseek_v2", "deepseek_v3", "kimi_k2", "mistral4"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		n := c.Layers()
		a := c.latent()
		e := MoE{Experts: c.IntOr(0, "n_routed_experts"), Gated: true, Scaled: true}
		if e.Experts > 0 {
			e.Used, e.Inner = c.Int("num_experts_per_tok"), c.Int("moe_intermediate_size")
			e.Shared = e.Inner * c.IntOr(0, "n_shared_experts")
			e.Sigmoid = c.Str("scoring_func") == "sigmoid"
			e.ChoiceBias = c.Str("topk_method") == "noaux_tc"
			e.Norm = c.Bool(false, "norm_topk_prob")
			e.Scaled = c.Float(1, "routed_scaling_factor") != 1
			e = e.grouped(c.IntOr(0, "n_group"), c.IntOr(0, "topk_group"))
		}
		s.Layers = denseFirst(n, int(c.IntOr(0, "first_k_dense_replace")), max(1, int(c.IntOr(1, "moe_layer_freq"))), Layer{Norm: RMS, Attn: a}, c.gated(), e)
		s.MTP = s.mtpOf(c.IntOr(0, "num_nextn_predict_layers"))
		s.MTPEnds = len(s.MTP) > 0
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		a := Attention{Heads: m.Int("attention.head_count"), QRank: m.IntOr(0, "attention.q_lora_rank"), KVRank: m.Int("attention.kv_lora_rank")}
		rope := m.IntOr(64, "rope.dimension_count")
		a.DimK = m.IntOr(m.IntOr(192, "attention.key_length"), "attention.key_length_mla")
		a.DimV = m.IntOr(m.IntOr(128, "attention.value_length"), "attention.value_length_mla")
		a.Nope, a.KVHeads = a.DimK-rope, a.Heads
		m.latentCache(&a, rope)
		e := MoE{Experts: m.IntOr(0, "expert_count"), Gated: true}
		if e.Experts > 0 {
			e.Used, e.Inner = m.Int("expert_used_count"), m.Int("expert_feed_forward_length")
			e.Shared = e.Inner * m.IntOr(0, "expert_shared_count")
			e.Sigmoid = m.IntOr(1, "expert_gating_func") == 2
			e.ChoiceBias = m.InLayer(n-1, "exp_probs_b.bias")
			e.Norm = m.Bool(false, "expert_weights_norm")
			scale, ok := m.h.Float(m.key("expert_weights_scale"))
			e.Scaled = ok && scale != 1 && scale != 0
			e = e.grouped(m.IntOr(0, "expert_group_count"), m.IntOr(0, "expert_group_used_count"))
		}
		s.Layers = denseFirst(n, int(m.IntOr(0, "leading_dense_block_count")), 1, Layer{Norm: RMS, Attn: a}, m.gated(), e)
		return s
	},
}

// latentCache checks the keys that llama.cpp sizes its cache by against those of the matrices: files with lengths of MLA cache
// one head of latents, others all heads (src/llama-kv-cache.cpp, src/llama-hparams.cpp).
func (m *Meta) latentCache(a *Attention, rope int64) {
	if _, ok := m.ints("attention.key_length_mla"); !ok {
		m.must("attention.head_count_kv", a.Heads, "attention.head_count")
		return
	}
	m.must("attention.head_count_kv", 1, "multi-head latent attention")
	m.must("attention.key_length", a.KVRank+rope, "attention.kv_lora_rank + rope.dimension_count")
	m.must("attention.value_length", a.KVRank, "attention.kv_lora_rank")
}

// grouped limits the choice to the best groups; one group limits nothing.
func (e MoE) grouped(groups, used int64) MoE {
	if groups > 1 && used > 0 && used < groups && e.Experts%groups == 0 {
		e.Groups, e.GroupsUsed = groups, used
	}
	return e
}

// latent reads multi-head latent attention.
func (c *Config) latent() Attention {
	h := c.Int("num_attention_heads")
	rope := c.Int("qk_rope_head_dim")
	nope := c.Int("qk_nope_head_dim")
	b := c.Bool(false, "attention_bias")
	return Attention{Heads: h, KVHeads: h, QRank: c.IntOr(0, "q_lora_rank"), KVRank: c.Int("kv_lora_rank"), Nope: nope, DimK: nope + rope,
		DimV: c.IntOr(0, "v_head_dim"), BiasQ: b, BiasKV: b, BiasOut: b}
}

// denseFirst gives a dense FFN to the first layers and experts to every step-th of the others.
func denseFirst(n, dense, step int, l Layer, f MLP, e MoE) []Layer {
	out := repeat(l, n)
	for i := range out {
		if e.Experts > 0 && i >= dense && i%step == 0 {
			out[i].MoE = e
		} else {
			out[i].FFN = f
		}
	}
	return out
}

// mtpOf repeats the last layer: prediction layers are built like it.
func (s *Spec) mtpOf(n int64) []Layer {
	if n == 0 || len(s.Layers) == 0 {
		return nil
	}
	return repeat(s.Layers[len(s.Layers)-1], int(min(n, 8)))
}

// minicpm3 compresses queries, keys and values like MLA but caches them in full.
var minicpm3 = &Family{
	Name: "minicpm3", Classes: []string{"MiniCPM3ForCausalLM"}, Types: []string{"minicpm3"},
	Config: func(c *Config) *Spec {
		s := c.base(true)
		a := c.latent()
		if a.DimV == 0 {
			a.DimV = c.Int("hidden_size") / a.Heads
		}
		if c.ropeType() == "longrope" {
			s.Tables = longTables((a.DimK - a.Nope) / 2)
		}
		minicpm3Spec(s, a, c.gated(), c.Layers())
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		h := m.Int("attention.head_count")
		a := Attention{Heads: h, KVHeads: h, QRank: m.Int("attention.q_lora_rank"), KVRank: m.Int("attention.kv_lora_rank"), DimK: m.Int("attention.key_length")}
		a.Nope = a.DimK - m.Int("rope.dimension_count")
		a.DimV = m.IntOr(m.Int("embedding_length")/h, "attention.value_length")
		m.must("attention.head_count_kv", h, "attention.head_count")
		minicpm3Spec(s, a, m.gated(), m.Layers())
		return s
	},
}

func minicpm3Spec(s *Spec, a Attention, f MLP, n int) {
	a.Expanded = true
	s.EmbedScale, s.HeadInput = true, true
	s.Layers = repeat(Layer{Norm: RMS, Attn: a, FFN: f, ResidualScale: true}, n)
}
