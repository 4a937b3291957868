package family

import "github.com/memwall/memwall/dtype"

// internvl: InternVL 1.5 to 3.5 (arXiv:2312.14238, arXiv:2412.05271): InternViT, four patches joined to one
// token, two linear maps, a text model of any family.
var internvl = &Family{
	Name: "internvl", Classes: []string{"InternVLChatModel"}, Types: []string{"internvl_chat"},
	Config: func(c *Config) *Spec {
		s := c.wrapped("llm_config")
		v := c.part("vision_config")
		image := v.Int("image_size")
		w, patch := v.Int("hidden_size"), v.Int("patch_size")
		side := image / patch
		l := Layer{Norm: internNorm(v), LayerScale: true, FFN: MLP{Inner: v.Int("intermediate_size"), Bias: true, Act: GELU}}
		b := v.Bool(false, "qkv_bias")
		l.Attn = seeing(w, v.Int("num_attention_heads")).bias(b, b, true)
		l.Attn.Fused = true
		if v.Bool(false, "qk_normalization") {
			l.Attn.QKNorm = FullWidth
		}
		s.Vision = internTower(w, patch, side, repeat(l, v.Layers()), s.Hidden, c.joined())
		return s
	},
}

// internvlHF is InternVL in the form of transformers: queries, keys and values apart.
var internvlHF = &Family{
	Name: "internvl-hf", Classes: []string{"InternVLForConditionalGeneration"}, Types: []string{"internvl"},
	Config: func(c *Config) *Spec {
		s := c.wrapped("text_config")
		v := c.part("vision_config")
		w := v.Int("hidden_size")
		patch, image := first(v, "patch_size"), first(v, "image_size")
		b := v.Bool(false, "attention_bias")
		l := Layer{Norm: internNorm(v), LayerScale: true, Attn: seeing(w, v.Int("num_attention_heads")).bias(b, b, true), FFN: MLP{Inner: v.Int("intermediate_size"), Bias: true, Act: GELU}}
		if v.Bool(false, "use_qk_norm") {
			l.Attn.QKNorm = FullWidth
		}
		s.Vision = internTower(w, patch, image/patch, repeat(l, v.Layers()), s.Hidden, c.joined())
		return s
	},
}

func internNorm(v *Config) NormKind {
	if v.Str("norm_type") == "rms_norm" {
		return RMS
	}
	return LayerNormBias
}

// joined is how many patches the projector joins: a ratio of one half along each side is four.
func (c *Config) joined() int64 {
	r := c.Float(0.5, "downsample_ratio")
	if !(r > 0 && r <= 1) {
		c.fail("downsample_ratio", c.m["downsample_ratio"], "is not a ratio", "correct the config.json")
		return 1
	}
	n := int64(1/r + 0.5)
	return n * n
}

// internTower: an image is cut into as many tiles as its shape asks, so that its tokens are not fixed.
func internTower(w, patch, side int64, layers []Layer, hidden, joined int64) *Tower {
	t := &Tower{Width: w, Layers: layers,
		Before: []Weight{mapping(dtype.VisionPatch, 3*patch*patch, w, true), mixesIn(dtype.VisionClass, w), table(dtype.VisionPosition, side*side+1, w)}}
	t.After = append([]Weight{norms(dtype.ProjectorNorm, LayerNormBias, w*joined)}, twoLayers(w*joined, hidden, hidden, true)...)
	return t
}

// first reads a number, or the first of a list.
func first(c *Config, key string) int64 {
	if n := c.Ints(key); len(n) > 0 && n[0] > 0 {
		return n[0]
	}
	return c.Int(key)
}
