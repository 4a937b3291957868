package family

// glm5next: GLM-5.3-Flash: three layers of Kimi delta attention to one of latent attention without rotary positions, whose
// indexer ranks pools of keys; hyper-connected streams that end in their mean; GLM-OCR's encoder with a wider projector
// (transformers and vLLM, models/glm5_next).
var glm5next = &Family{
	Name: "glm5-next", Classes: []string{"Glm5NextForConditionalGeneration", "Glm5NextForCausalLM"}, Types: []string{"glm5_next",
		"glm5_next_text"},
	Config: func(c *Config) *Spec {
		t := c.Text()
		s := t.base(false)
		s.Hyper, s.HyperMean = t.Int("hc_mult"), true
		e := t.deepseekExperts()
		e.Sigmoid, e.ChoiceBias, e.Scaled = true, true, true
		t.mixed(s, t.Layers(), t.latentWithoutTurns(), e, int(t.IntOr(3, "first_k_dense_replace")))
		s.MTP = s.mtpOf(t.IntOr(0, "num_nextn_predict_layers"))
		for i, delta := range t.deltaLayers(len(s.Layers)) {
			s.Layers[i].Hyper = s.Hyper
			if delta {
				s.Layers[i].Attn, s.Layers[i].SSM = Attention{}, t.glmDelta()
			}
		}
		if v := c.Sub("vision_config"); v != nil {
			s.Vision = glmVision(v, true)
		}
		return c.outerTie(s)
	},
}

// latentWithoutTurns is latent attention whose positions are the indexer's alone.
func (c *Config) latentWithoutTurns() Attention {
	h := c.Int("num_attention_heads")
	a := Attention{Heads: h, KVHeads: h, NoRope: true, QRank: c.Int("q_lora_rank"), KVRank: c.Int("kv_lora_rank"),
		Nope: c.Int("qk_nope_head_dim"), DimV: c.Int("v_head_dim")}
	a.DimK = a.Nope + c.IntOr(0, "qk_rope_head_dim")
	a.Index = Indexer{Heads: c.Int("index_n_heads"), Dim: c.Int("index_head_dim"), Every: c.IntOr(1, "index_kpool"),
		Pooled: c.Bool(true, "index_kpool_compress")}
	a.Chosen = c.chosen()
	return a
}

// deltaLayers marks those with delta attention: all but every fourth, where no list says.
func (c *Config) deltaLayers(n int) []bool {
	types := c.Strs("layer_types")
	if len(types) < n {
		return every(n, 4)
	}
	out := make([]bool, n)
	for i := range out {
		out[i] = types[i] == "linear_attention"
	}
	return out
}

// glmDelta is written in a part of its own, or flat.
func (c *Config) glmDelta() SSM {
	if t := c.Sub("linear_attn_config"); t != nil {
		h := t.Int("num_heads")
		return SSM{Style: DeltaHeads, Conv: t.IntOr(4, "short_conv_kernel_size"), Inner: h * t.Int("head_dim"), Heads: h, NoConvBias: true}
	}
	h := c.Int("linear_num_heads")
	return SSM{Style: DeltaHeads, Conv: c.IntOr(4, "linear_conv_kernel_dim"), Inner: h * c.Int("linear_head_dim"), Heads: h,
		NoConvBias: true}
}
