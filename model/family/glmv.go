package family

import "github.com/memwall/memwall/dtype"

// glm4v: GLM-4.1V and GLM-4.6V-Flash (arXiv:2507.01006; transformers, models/glm4v), and GLM-OCR (models/glm_ocr): GLM-4's
// decoder behind an encoder with a gated MLP whose patches are joined by a convolution and mapped by an MLP of their own.
var glm4v = &Family{
	Name: "glm4v", Classes: []string{"Glm4vForConditionalGeneration", "GlmOcrForConditionalGeneration"}, Types: []string{"glm4v", "glm_ocr"},
	Config: func(c *Config) *Spec {
		t := c.part("text_config")
		ocr := c.Class() == "GlmOcrForConditionalGeneration" || c.Str("model_type") == "glm_ocr"
		s := glm4.Config(t)
		s.Family = glm4.Name
		for i := range s.Layers {
			s.Layers[i].Attn = s.Layers[i].Attn.bias(!ocr, !ocr, false)
		}
		s.MTP = s.mtpOf(t.IntOr(0, "num_nextn_predict_layers"))
		s.Vision = glmVision(c.part("vision_config"), ocr)
		return c.outerTie(s)
	},
}

// glm4vMoE: GLM-4.5V and GLM-4.6V: the same encoder before GLM-4.5-Air's decoder (transformers, models/glm4v_moe).
var glm4vMoE = &Family{
	Name: "glm4v-moe", Classes: []string{"Glm4vMoeForConditionalGeneration"}, Types: []string{"glm4v_moe"},
	Config: func(c *Config) *Spec {
		s := glm4moe.Config(c.part("text_config"))
		s.Family = glm4moe.Name
		s.Vision = glmVision(c.part("vision_config"), false)
		return c.outerTie(s)
	},
}

// glmVision: learned positions and a norm before the blocks, whose MLP is as wide as the map to the text; GLM-OCR has neither, but
// biases, normalised queries and keys, and an MLP of its own width.
func glmVision(v *Config, ocr bool) *Tower {
	v.defaults(map[string]int64{"depth": 24, "hidden_size": 1536, "num_heads": 12, "in_channels": 3, "image_size": 336, "patch_size": 14, "spatial_merge_size": 2,
		"temporal_patch_size": 2, "out_hidden_size": 4096, "intermediate_size": 13696})
	w, out, p := v.Int("hidden_size"), v.Int("out_hidden_size"), v.Int("patch_size")
	b, inner, wide := v.Bool(ocr, "attention_bias"), out, v.Int("intermediate_size")
	if ocr {
		inner, wide = wide, v.IntOr(out*v.Int("in_channels"), "projection_intermediate_size")
	}
	a := seeing(w, v.Int("num_heads")).bias(b, b, b && ocr)
	a.Fused = true
	t := &Tower{Width: w, Before: []Weight{mapping(dtype.VisionPatch, v.framePatch(), w, true)}}
	if ocr {
		a.QKNorm = PerHead
	} else {
		side := v.Int("image_size") / p
		t.Before = append(t.Before, norms(dtype.VisionPreNorm, RMS, w), table(dtype.VisionPosition, side*side, w))
	}
	t.Layers = repeat(Layer{Norm: RMS, Attn: a, FFN: MLP{Inner: inner, Gated: true, Bias: b && ocr}}, int(min(v.Int("depth"), maxLayers)))
	m := v.Int("spatial_merge_size")
	t.After = []Weight{norms(dtype.VisionPostNorm, RMS, w), mapping(dtype.ProjectorMerge, w*m*m, out, true), mapping(dtype.ProjectorMid, out, out, false),
		norms(dtype.ProjectorNorm, LayerNormBias, out), branched(mapping(dtype.ProjectorIn, out, wide, false)), branched(mapping(dtype.ProjectorIn, out, wide, false)),
		mapping(dtype.ProjectorOut, wide, out, false)}
	return t
}
