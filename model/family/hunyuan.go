package family

import "github.com/memwall/memwall/dtype"

// hunyuanDense: llama with queries and keys normalised after their rotation (Tencent 2025; transformers,
// models/hunyuan_v1_dense).
var hunyuanDense = &Family{
	Name: "hunyuan-dense", Classes: []string{"HunYuanDenseV1ForCausalLM"}, Types: []string{"hunyuan_v1_dense"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		f := c.gated()
		f.Bias = c.Bool(false, "mlp_bias")
		s.Layers = repeat(Layer{Norm: RMS, Attn: c.hunyuanHeads(), FFN: f}, c.Layers())
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		s.Layers = repeat(Layer{Norm: RMS, Attn: turnedFirst(normed(m.heads(n)[0])), FFN: m.gated()}, n)
		return s
	},
}

// hunyuanMoE: the same with routed and shared experts; pairs of layers may share keys and values
// (arXiv:2411.02265; tencent/Hunyuan-A13B-Instruct, modeling_hunyuan.py).
var hunyuanMoE = &Family{
	Name: "hunyuan-moe", Classes: []string{"HunYuanMoEV1ForCausalLM", "HunYuanForCausalLM"}, Types: []string{"hunyuan", "hunyuan_v1_moe"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		if c.Bool(false, "use_mla") {
			c.lacks("use_mla", true, "is of no published Hunyuan, and is not described", "correct the config.json")
		}
		n := c.Layers()
		dense := int(c.IntOr(0, "moe_layer_num_skipped"))
		s.Layers = repeat(Layer{Norm: RMS, Attn: c.hunyuanHeads()}, n)
		share := max(1, int(c.IntOr(2, "cla_share_factor")))
		for i := range s.Layers {
			l := &s.Layers[i]
			l.Attn.SharesKV = c.Bool(false, "use_cla") && i%share != 0
			if l.MoE = c.hunyuanMoE(i); l.MoE.Experts < 2 || i < dense {
				l.MoE, l.FFN = MoE{}, c.gated()
			}
		}
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		e := MoE{Experts: m.Int("expert_count"), Used: m.Int("expert_used_count"), Inner: m.Int("expert_feed_forward_length"), Gated: true, Norm: true,
			Shared: m.IntOr(0, "expert_shared_feed_forward_length")}
		s.Layers = repeat(Layer{Norm: RMS, Attn: turnedFirst(normed(m.heads(n)[0])), MoE: e}, n)
		return s
	},
}

// hy3: Tencent's Hy3: normalised queries and keys, a dense layer, then routed experts chosen with a bias beside a shared one
// (transformers, models/hy_v3).
var hy3 = &Family{
	Name: "hy-v3", Classes: []string{"HYV3ForCausalLM"}, Types: []string{"hy_v3"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		b := c.Bool(false, "attention_bias")
		e := MoE{Experts: c.Int("num_experts", "num_local_experts"), Used: c.Int("num_experts_per_tok"), Inner: c.Int("moe_intermediate_size"), Gated: true, Sigmoid: true,
			ChoiceBias: true, Norm: true, Scaled: true}
		e.Shared = e.Inner * c.IntOr(0, "num_shared_experts")
		c.mixed(s, c.Layers(), normed(c.heads().bias(b, b, b)), e, 1)
		s.MTP = s.mtpOf(c.IntOr(0, "num_nextn_predict_layers"))
		return s
	},
}

func (c *Config) hunyuanHeads() Attention {
	a := c.heads()
	b := c.Bool(false, "attention_bias")
	if c.Bool(true, "use_qk_norm") {
		a.QKNorm = PerHead
	}
	return turnedFirst(a.bias(b, b, b))
}

// turnedFirst: rotation comes before the norms.
func turnedFirst(a Attention) Attention {
	a.TurnFirst = true
	return a
}

// hunyuanMoE of one layer: numbers may be given for each.
func (c *Config) hunyuanMoE(layer int) MoE {
	inner := c.nth("intermediate_size", layer)
	e := MoE{Experts: c.nth("num_experts", layer), Used: c.nth("moe_topk", layer), Inner: inner, Gated: true, Norm: c.Bool(true, "norm_topk_prob")}
	if c.Bool(false, "use_mixed_mlp_moe") {
		e.Shared = inner * c.nth("num_shared_expert", layer)
	}
	if c.Has("moe_intermediate_size") {
		e.Inner = c.nth("moe_intermediate_size", layer)
	}
	return e.grouped(c.IntOr(0, "n_group"), c.IntOr(0, "topk_group"))
}

// nth reads a number that stands for all layers, or a list with one for each.
func (c *Config) nth(key string, layer int) int64 {
	list := c.Ints(key)
	_, each := c.Value(key).([]any)
	switch {
	case len(list) == 1 && !each:
		return list[0]
	case layer < len(list):
		return list[layer]
	}
	c.fail(key, nil, "does not have a number for each layer", "give the full config.json of the model")
	return 1
}

// hunyuanVL: HunyuanOCR (arXiv:2511.19575; transformers, models/hunyuan_vl): the dense text beside a SigLIP-like encoder, whose
// patches are joined by convolutions between two norms; an image has tokens for its bounds and for the ends of its rows.
var hunyuanVL = &Family{
	Name: "hunyuan-vl", Classes: []string{"HunYuanVLForConditionalGeneration"}, Types: []string{"hunyuan_vl"},
	Config: func(c *Config) *Spec {
		s := hunyuanDense.Config(c.Text())
		s.Family = hunyuanDense.Name
		v := c.part("vision_config")
		v.defaults(with(so400m, map[string]int64{"patch_size": 16, "max_image_size": 2048, "spatial_merge_size": 2}))
		p, m := v.Int("patch_size"), v.Int("spatial_merge_size")
		side := v.Int("max_image_size") / p
		t := v.siglipOf(v.IntOr(3, "num_channels")*p*p, side*side+v.IntOr(1, "cat_extra_token"))
		w := t.Width
		t.After = []Weight{norms(dtype.ProjectorNorm, RMS, w), mapping(dtype.ProjectorMerge, w*m*m, 2*w, true),
			mapping(dtype.ProjectorMid, 2*w, 4*w, true), mixesIn(dtype.VisionNewline, 4*w), mapping(dtype.ProjectorOut, 4*w, s.Hidden, true),
			{Role: dtype.VisionSeparator, Use: MixesIn, In: 3, Out: s.Hidden}, norms(dtype.ProjectorPost, RMS, s.Hidden)}
		s.Vision = t
		return c.outerTie(s)
	},
}
