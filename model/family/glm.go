package family

// chatglm: GLM-4-9B and ChatGLM 2, 3: fused qkv with a bias, fused gate and up.
var chatglm = &Family{
	Name: "chatglm", Classes: []string{"ChatGLMModel", "ChatGLMForConditionalGeneration"}, Types: []string{"chatglm"},
	Config: func(c *Config) *Spec {
		if c.Has("inner_hidden_size") {
			return c.firstChatGLM()
		}
		s := c.base(false)
		a := c.heads()
		if !c.Bool(true, "multi_query_attention") {
			a.KVHeads = a.Heads
		}
		b := c.Bool(false, "add_bias_linear")
		chatglmSpec(s, a.bias(b || c.Bool(false, "add_qkv_bias"), false, b), MLP{Inner: c.Int("ffn_hidden_size"), Bias: b}, c.Layers())
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		chatglmSpec(s, m.heads(n)[0].bias(m.InLayer(0, "attn_qkv.bias"), false, false), MLP{Inner: m.Int("feed_forward_length")}, n)
		return s
	},
}

// firstChatGLM: ChatGLM-6B: layer norms and biases, fused qkv, an ungated MLP, a head of its own, scaled residuals
// (THUDM/chatglm-6b, modeling_chatglm.py).
func (c *Config) firstChatGLM() *Spec {
	s := c.base(false)
	s.OutNorm = LayerNormBias
	a := c.heads().bias(true, true, true)
	a.Fused = true
	mlp := MLP{Inner: c.Int("inner_hidden_size"), Bias: true, Act: GELU}
	s.Layers = repeat(Layer{Norm: LayerNormBias, ResidualScale: true, Attn: a, FFN: mlp}, c.Layers())
	return s
}

func chatglmSpec(s *Spec, a Attention, f MLP, n int) {
	a.Fused = true
	f.Gated, f.Fused = true, true
	s.Layers = repeat(Layer{Norm: RMS, Attn: a, FFN: f}, n)
}

// glm4: GLM-4-0414: norms before and after each branch, fused gate and up. GlmForCausalLM is the same
// without the norms after.
var glm4 = &Family{
	Name: "glm4", Classes: []string{"Glm4ForCausalLM", "GlmForCausalLM"}, Types: []string{"glm4", "glm"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		b := c.Bool(false, "attention_bias")
		place := Sandwich
		if c.Class() == "GlmForCausalLM" || c.Str("model_type") == "glm" {
			place = PreNorm
		}
		f := c.gated()
		f.Fused = true
		s.Layers = repeat(Layer{Norm: RMS, Place: place, Attn: c.heads().bias(b, b, false), FFN: f}, c.Layers())
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		b := m.InLayer(0, "attn_q.bias")
		f := m.gated()
		f.Fused = true
		s.Layers = repeat(Layer{Norm: RMS, Place: Sandwich, Attn: m.heads(n)[0].bias(b, b, false), FFN: f}, n)
		return s
	},
}

// glm4moe: GLM-4.5 to 4.7: a few dense layers, then sigmoid routing with a shared expert.
var glm4moe = &Family{
	Name: "glm4moe", Classes: []string{"Glm4MoeForCausalLM"}, Types: []string{"glm4_moe"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		b := c.Bool(false, "attention_bias")
		a := c.heads().bias(b, b, false)
		if c.Bool(false, "use_qk_norm") {
			a.QKNorm = PerHead
		}
		e := MoE{Experts: c.Int("n_routed_experts"), Used: c.Int("num_experts_per_tok"), Inner: c.Int("moe_intermediate_size")}
		e.Shared = e.Inner * c.IntOr(0, "n_shared_experts")
		glm4moeSpec(s, a, c.gated(), e, c.Layers(), int(c.IntOr(1, "first_k_dense_replace")))
		s.MTP = s.mtpOf(c.IntOr(0, "num_nextn_predict_layers"))
		s.MTPEnds = len(s.MTP) > 0 && !c.Bool(false, "nextn_shares_embeddings") // which the catalog says of GLM-4.6
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		b := m.InLayer(0, "attn_q.bias")
		a := m.heads(n)[0].bias(b, b, false)
		if m.InLayer(0, "attn_q_norm.weight") {
			a.QKNorm = PerHead
		}
		e := MoE{Experts: m.Int("expert_count"), Used: m.Int("expert_used_count"), Inner: m.Int("expert_feed_forward_length")}
		e.Shared = e.Inner * m.IntOr(0, "expert_shared_count")
		glm4moeSpec(s, a, m.gated(), e, n, int(m.IntOr(0, "leading_dense_block_count")))
		s.MTP = s.mtpOf(m.IntOr(0, "nextn_predict_layers"))
		s.MTPEnds = len(s.MTP) > 0
		return s
	},
}

func glm4moeSpec(s *Spec, a Attention, f MLP, e MoE, n, dense int) {
	e.Gated, e.Sigmoid, e.ChoiceBias, e.Norm, e.Scaled = true, true, true, true, true
	s.Layers = denseFirst(n, dense, 1, Layer{Norm: RMS, Place: PreNormPost, Attn: a}, f, e)
}
