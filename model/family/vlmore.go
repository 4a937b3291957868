package family

import "github.com/memwall/memwall/dtype"

// Wrappers around a MoonViT, a SigLIP with rotary positions, a RICE and an AIMv2 encoder; the published classes
// of their repositories.

// locateAnything: MoonViT, a norm over four joined patches, two linear maps, Qwen2.
var locateAnything = &Family{
	Name: "locateanything", Classes: []string{"LocateAnythingForConditionalGeneration"}, Types: []string{"locateanything"},
	Config: func(c *Config) *Spec {
		s := c.wrapped("text_config")
		v := c.part("vision_config")
		t := v.moonvit(v.Int("hidden_size"), v.Int("intermediate_size"), v.Int("num_attention_heads"), v.Layers(), s.Hidden)
		wide := t.After[len(t.After)-1].In
		t.After = append(t.After[:1], norms(dtype.ProjectorNorm, LayerNormBias, wide))
		t.After = append(t.After, twoLayers(wide, s.Hidden, s.Hidden, true)...)
		s.Vision = t
		return s
	},
}

// videollama3: SigLIP without learned positions, two linear maps, Qwen2 (arXiv:2501.13106).
var videollama3 = &Family{
	Name: "videollama3", Classes: []string{"Videollama3Qwen2ForCausalLM"}, Types: []string{"videollama3_qwen2"},
	Config: func(c *Config) *Spec {
		s := qwen2.Config(c)
		s.Family = qwen2.Name
		v := c.part("vision_encoder_config")
		v.defaults(siglipDefaults)
		p := v.Int("patch_size")
		t := v.siglipOf(v.Int("num_channels")*p*p, 0)
		t.Before = t.Before[:1]
		t.After = append(t.After, twoLayers(t.Width, s.Hidden, s.Hidden, true)...)
		s.Vision = t
		return s
	},
}

// llavaOneVision15: a RICE encoder, neighbours merged as in Qwen2-VL, Qwen3 (arXiv:2509.23661).
var llavaOneVision15 = &Family{
	Name: "llava-onevision-1.5", Classes: []string{"LLaVAOneVision1_5_ForConditionalGeneration"}, Types: []string{"llavaonevision1_5"},
	Config: func(c *Config) *Spec {
		x := c.part("text_config")
		s := x.qwen(normed(x.heads()))
		s.Family = qwen3.Name
		if s.Native == nil {
			s.Native = c.Native()
		}
		v := c.part("vision_config")
		w := v.Int("hidden_size")
		t := &Tower{Width: w, Layers: fusedBlocks(int(min(v.Int("depth"), maxLayers)), w, v.Int("intermediate_size"), v.Int("num_heads")),
			Before: []Weight{mapping(dtype.VisionPatch, v.framePatch(), w, false), mixesIn(dtype.VisionClass, w),
				mixesIn(dtype.VisionPosition, w/max(1, v.Int("num_heads"))/2), norms(dtype.VisionPreNorm, LayerNormBias, w)}}
		t.After = v.merger(w, LayerNormBias, s.Hidden)
		s.Vision = t
		return s
	},
}

// andesvl: AIMv2 (arXiv:2411.14402) with rotary positions beside its learned ones, two linear maps, Qwen3
// (arXiv:2510.11496).
var andesvl = &Family{
	Name: "andesvl", Classes: []string{"AndesVLForConditionalGeneration"}, Types: []string{"andesvl-aimv2-qwen3"},
	Config: func(c *Config) *Spec {
		s := c.wrapped("text_config")
		v := c.part("vision_config")
		w, p := v.Int("hidden_size"), v.Int("patch_size")
		side, b, qb := v.Int("image_size")/p, v.Bool(false, "use_bias"), v.Bool(false, "qkv_bias")
		l := Layer{Norm: RMS, Attn: seeing(w, v.Int("num_attention_heads")).bias(qb, qb, b), FFN: MLP{Inner: v.Int("intermediate_size"), Gated: true, Bias: b}}
		l.Attn.Fused = true
		t := &Tower{Width: w, Layers: repeat(l, v.Layers()),
			Before: []Weight{mapping(dtype.VisionPatch, v.IntOr(3, "num_channels")*p*p, w, true), norms(dtype.VisionPreNorm, RMS, w)}}
		if v.Bool(false, "preserve_original_pe") {
			t.Before = append(t.Before, table(dtype.VisionPosition, side*side, w))
		}
		t.After = append([]Weight{norms(dtype.VisionPostNorm, RMS, w)}, twoLayers(4*w, 4*w, s.Hidden, true)...)
		s.Vision = t
		return s
	},
}

// logics: SigLIP without its last layer and a ConvNeXt side by side, two linear maps, Qwen3.
var logics = &Family{
	Name: "logics", Classes: []string{"LogicsForConditionalGeneration"}, Types: []string{"logics"},
	Config: func(c *Config) *Spec {
		s := qwen3.Config(c)
		s.Family = qwen3.Name
		const known = "convnext-1024,siglip2-384"
		if got := c.Str("mm_vision_tower"); got != known {
			c.lacks("mm_vision_tower", got, "names encoders whose sizes the config does not give", fromFiles)
		}
		t := c.part("siglip_config").siglipTower()
		if len(t.Layers) > 0 {
			t.Layers = t.Layers[1:]
		}
		t.After = append(t.After, twoLayers(c.Int("mm_hidden_size"), s.Hidden, s.Hidden, true)...)
		t.After = append(t.After, mixesIn(dtype.VisionNewline, s.Hidden))
		t.After = append(t.After, convnextXXL()...)
		s.Vision = t
		return s
	},
}

// convnextXXL is ConvNeXt (arXiv:2201.03545) as OpenCLIP's largest has it (convnext_xxlarge): stages of depthwise
// convolutions of 7 × 7 and MLPs of four times the width, with a projection to 1024.
func convnextXXL() []Weight {
	depths, dims := []int{3, 4, 30, 3}, []int64{384, 768, 1536, 3072}
	out := []Weight{branched(mapping(dtype.VisionStem, 3*4*4, dims[0], true)), norms(dtype.VisionStemNorm, LayerNormBias, dims[0])}
	for i, d := range dims {
		if i > 0 {
			out = append(out, norms(dtype.VisionNeckNorm, LayerNormBias, dims[i-1]), mapping(dtype.VisionNeck, 4*dims[i-1], d, true))
		}
		for range depths[i] {
			out = append(out, mapping(dtype.VisionDepthwise, 7*7, d, true), norms(dtype.VisionStageNorm, LayerNormBias, d),
				mapping(dtype.VisionStageUp, d, 4*d, true), mapping(dtype.VisionStageDown, 4*d, d, true), mixesIn(dtype.VisionStageScale, d))
		}
	}
	return append(out, norms(dtype.VisionHeadNorm, LayerNormBias, dims[3]), mapping(dtype.VisionHead, dims[3], 1024, true))
}

// minimaxM3VL: MiniMax-M3 with a CLIP-like tower of rotary positions; patches go through two linear maps, are joined
// by four and go through two more (transformers, models/minimax_m3_vl).
var minimaxM3VL = &Family{
	Name: "minimax-m3-vl", Classes: []string{"MiniMaxM3SparseForConditionalGeneration"}, Types: []string{"minimax_m3_vl"},
	Config: func(c *Config) *Spec {
		s := c.wrapped("text_config")
		v := c.part("vision_config")
		w, p := v.Int("hidden_size"), v.Int("patch_size")
		merge, frames := int64(2), int64(2)
		if m := v.Sub("img_token_compression_config"); m != nil {
			merge, frames = m.IntOr(merge, "spatial_merge_size"), m.IntOr(frames, "temporal_patch_size")
		}
		mid := c.IntOr(s.Hidden, "projector_hidden_size")
		t := &Tower{Width: w, Layers: blocks(v.Layers(), w, v.Int("intermediate_size"), v.Int("num_attention_heads")),
			Before: []Weight{mapping(dtype.VisionPatch, v.IntOr(3, "num_channels")*frames*p*p, w, false), norms(dtype.VisionPreNorm, LayerNormBias, w)},
			After:  twoLayers(w, mid, s.Hidden, true)}
		t.After = append(t.After, mapping(dtype.ProjectorMid, s.Hidden*merge*merge, mid, true), mapping(dtype.ProjectorMerge, mid, s.Hidden, true))
		s.Vision = t
		return s
	},
}
