package family

import "github.com/memwall/memwall/dtype"

// ernie: ERNIE 4.5 dense: llama, one flag for all biases (Baidu 2025; transformers, models/ernie4_5).
var ernie = &Family{
	Name: "ernie4_5", Classes: []string{"Ernie4_5ForCausalLM", "Ernie4_5_ForCausalLM"}, Types: []string{"ernie4_5"},
	Config: func(c *Config) *Spec {
		s := c.base(true)
		b := c.Bool(false, "use_bias")
		f := c.gated()
		f.Bias = b
		s.Layers = repeat(Layer{Norm: RMS, Attn: c.heads().bias(b, b, b), FFN: f}, c.Layers())
		return s
	},
	Header: llama.Header,
}

// ernieMoE: experts chosen with a bias, in all but the first layers, beside shared ones (transformers,
// models/ernie4_5_moe).
var ernieMoE = &Family{
	Name: "ernie4_5-moe", Classes: []string{"Ernie4_5_MoeForCausalLM", "Ernie4_5_MoEForCausalLM"}, Types: []string{"ernie4_5_moe"},
	Config: func(c *Config) *Spec {
		s := c.base(true)
		n := c.Layers()
		b := c.Bool(false, "use_bias")
		e := MoE{Experts: c.Int("moe_num_experts"), Used: c.Int("moe_k"), Inner: c.Int("moe_intermediate_size"), Gated: true, ChoiceBias: true, Norm: true}
		e.Shared = e.Inner * c.IntOr(0, "moe_num_shared_experts")
		f := c.gated()
		f.Bias = b
		from, to, step := c.IntOr(1, "moe_layer_start_index"), c.IntOr(int64(n)-1, "moe_layer_end_index"), max(1, c.IntOr(1, "moe_layer_interval"))
		s.Layers = repeat(Layer{Norm: RMS, Attn: c.heads().bias(b, b, b)}, n)
		for i := range s.Layers {
			if k := int64(i); (k+1)%step == 0 && k >= from && k <= to {
				s.Layers[i].MoE = e
			} else {
				s.Layers[i].FFN = f
			}
		}
		// layers of prediction are dense and end without a norm
		s.MTP, s.MTPBare = repeat(Layer{Norm: RMS, Attn: c.heads().bias(b, b, b), FFN: f}, int(min(c.IntOr(0, "num_nextn_predict_layers"), 8))), true
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		e := MoE{Experts: m.Int("expert_count"), Used: m.Int("expert_used_count"), Inner: m.Int("expert_feed_forward_length"), Gated: true, Norm: true,
			Shared: m.IntOr(0, "expert_shared_feed_forward_length"), ChoiceBias: m.InLayer(n-1, "exp_probs_b.bias")}
		s.Layers = denseFirst(n, int(m.IntOr(0, "leading_dense_block_count")), 1, Layer{Norm: RMS, Attn: m.heads(n)[0]}, m.gated(), e)
		return s
	},
}

// ernieVL: ERNIE 4.5 VL (Baidu 2025; transformers, models/ernie4_5_vl_moe): the same with experts for tokens of images beside those
// for text, and Qwen2-VL's encoder, whose patches are joined over space, then over two frames, and mapped to the text's width.
var ernieVL = &Family{
	Name: "ernie4_5-vl", Types: []string{"ernie4_5_vl_moe", "ernie4_5_moe_vl"},
	Classes: []string{"Ernie4_5_VLMoeForConditionalGeneration", "Ernie4_5_VLForConditionalGeneration"},
	Config: func(c *Config) *Spec {
		t := c.Text()
		t.defaults(map[string]int64{"moe_num_shared_experts": 2, "moe_k": 6})
		images := t.firsts("moe_intermediate_size", "moe_num_experts", "moe_layer_start_index", "moe_layer_end_index")
		s := ernieMoE.Config(t)
		for i := range s.Layers {
			if s.Layers[i].MoE.Experts > 0 {
				s.Layers[i].MoE.Images = images
			}
		}
		s.Family = ernieMoE.Name
		s.Vision = c.part("vision_config").ernieVision(s.Hidden)
		return c.outerTie(s)
	},
}

// firsts leaves of lists for text and images the numbers for text; the second of the first list is given, 0 for none.
func (c *Config) firsts(keys ...string) (images int64) {
	for i, key := range keys {
		l, isList := c.m[key].([]any)
		if !isList || len(l) == 0 {
			continue
		}
		if n := c.Ints(key); i == 0 && len(n) > 1 {
			images = n[1]
		}
		c.m[key] = l[0]
	}
	return images
}

func (c *Config) ernieVision(hidden int64) *Tower {
	c.defaults(map[string]int64{"depth": 32, "hidden_size": 1280, "num_heads": 16, "patch_size": 14, "spatial_merge_size": 2,
		"temporal_merge_size": 2, "mlp_ratio": 4})
	w, p, m := c.Int("hidden_size"), c.Int("patch_size"), c.Int("spatial_merge_size")
	wide, inner := w*m*m, c.IntOr(c.Int("mlp_ratio")*w, "intermediate_size")
	t := &Tower{Width: w, Layers: fusedBlocks(int(min(c.Int("depth"), maxLayers)), w, inner, c.Int("num_heads")),
		Before: []Weight{mapping(dtype.VisionPatch, c.IntOr(3, "in_channels")*p*p, w, false)}}
	t.After = []Weight{norms(dtype.VisionPostNorm, LayerNormBias, w)}
	for _, in := range []int64{wide, wide * c.Int("temporal_merge_size")} {
		t.After = append(t.After, mapping(dtype.ProjectorMerge, in, wide, true), mapping(dtype.ProjectorMid, wide, wide, true),
			norms(dtype.ProjectorNorm, LayerNormBias, wide))
	}
	t.After = append(t.After, mapping(dtype.ProjectorOut, wide, hidden, true), norms(dtype.ProjectorPost, RMS, hidden))
	return t
}

// paddleOCR: PaddleOCR-VL (arXiv:2510.14528; transformers, models/paddleocr_vl): ERNIE 4.5's dense text beside a SigLIP with rotary
// positions, whose patches are joined by four. Files also hold a table of positions of packed images and a pooling head.
var paddleOCR = &Family{
	Name: "paddleocr-vl", Classes: []string{"PaddleOCRVLForConditionalGeneration"}, Types: []string{"paddleocr_vl"},
	Config: func(c *Config) *Spec {
		s := ernie.Config(c.Text())
		s.Family = ernie.Name
		v := c.part("vision_config")
		v.defaults(with(so400m, map[string]int64{"image_size": 384, "patch_size": 14, "spatial_merge_size": 2}))
		t := v.siglipTower()
		wide := t.Width * v.Int("spatial_merge_size") * v.Int("spatial_merge_size")
		t.After = append(t.After, norms(dtype.ProjectorNorm, LayerNormBias, t.Width))
		t.After = append(t.After, twoLayers(wide, wide, s.Hidden, true)...)
		s.Vision = t
		return c.outerTie(s)
	},
}
