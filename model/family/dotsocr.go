package family

import "github.com/memwall/memwall/dtype"

// dotsOCR: dots.ocr: Qwen2 1.5B with a head of its own behind an encoder of gated MLPs whose patches are joined two by two
// (rednote-hilab/dots.ocr, modeling_dots_vision.py).
var dotsOCR = &Family{
	Name: "dots-ocr", Classes: []string{"DotsOCRForCausalLM"}, Types: []string{"dots_ocr"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		b := c.Bool(true, "attention_bias")
		s.Layers = repeat(Layer{Norm: RMS, Attn: c.heads().bias(b, b, false), FFN: c.gated()}, c.Layers())
		s.Vision = c.part("vision_config").dotsVision(s.Hidden)
		return s
	},
}

func (c *Config) dotsVision(hidden int64) *Tower {
	c.defaults(map[string]int64{"embed_dim": 1536, "intermediate_size": 4224, "num_hidden_layers": 42, "num_attention_heads": 12,
		"patch_size": 14, "num_channels": 3,
		"spatial_merge_size": 2})
	w, p, m := c.Int("embed_dim"), c.Int("patch_size"), c.Int("spatial_merge_size")
	b := c.Bool(false, "use_bias")
	a := seeing(w, c.Int("num_attention_heads")).bias(b, b, b)
	a.Fused = true
	wide := w * m * m
	t := &Tower{Width: w, Layers: repeat(Layer{Norm: RMS, Attn: a, FFN: MLP{Inner: c.Int("intermediate_size"), Gated: true,
		Bias: b}}, c.Layers()),
		Before: []Weight{mapping(dtype.VisionPatch, c.Int("num_channels")*p*p, w, true), norms(dtype.VisionPreNorm, RMS, w)}}
	if c.Bool(true, "post_norm") {
		t.After = append(t.After, norms(dtype.VisionPostNorm, RMS, w))
	}
	t.After = append(t.After, norms(dtype.ProjectorNorm, LayerNormBias, w))
	t.After = append(t.After, twoLayers(wide, wide, hidden, true)...)
	return t
}
