package family

import (
	"github.com/memwall/memwall/dtype"
)

// kimivl: Kimi-VL (arXiv:2504.07491): MoonViT, patches joined by four, two linear maps, a DeepSeek-V3-like text
// model.
var kimivl = &Family{
	Name: "kimi-vl", Classes: []string{"KimiVLForConditionalGeneration"}, Types: []string{"kimi_vl"},
	Config: func(c *Config) *Spec {
		s := c.wrapped("text_config")
		v := c.part("vision_config")
		s.Vision = v.moonvit(v.IntOr(1152, "hidden_size"), v.IntOr(4304, "intermediate_size"), v.IntOr(16, "num_attention_heads"), v.layersOr(27, "num_hidden_layers"), s.Hidden)
		return s
	},
}

// kimik25: Kimi-K2.5: Kimi-K2 with a MoonViT that also takes frames; its temporal positions are fixed.
var kimik25 = &Family{
	Name: "kimi-k25", Classes: []string{"KimiK25ForConditionalGeneration"}, Types: []string{"kimi_k25"},
	Config: func(c *Config) *Spec {
		s := c.wrapped("text_config")
		v := c.part("vision_config")
		if kind := v.Str("mm_projector_type"); kind != "patchmerger" {
			v.lacks("mm_projector_type", kind, "is a projector that is not described", fromFiles)
		}
		s.Vision = v.moonvit(v.Int("vt_hidden_size"), v.Int("vt_intermediate_size"), v.Int("vt_num_attention_heads"), v.layersOr(27, "vt_num_hidden_layers"), s.Hidden)
		return s
	},
}

// moonvit has layer norms and biases everywhere and a learned grid of positions.
func (c *Config) moonvit(w, inner, heads int64, layers int, hidden int64) *Tower {
	p := c.IntOr(14, "patch_size")
	grid := c.IntOr(64, "init_pos_emb_height") * c.IntOr(64, "init_pos_emb_width")
	t := &Tower{Width: w, Layers: fusedBlocks(layers, w, inner, heads),
		Before: []Weight{mapping(dtype.VisionPatch, 3*p*p, w, true), table(dtype.VisionPosition, grid, w)},
		After:  []Weight{norms(dtype.VisionPostNorm, LayerNormBias, w), norms(dtype.ProjectorNorm, LayerNormBias, w)}}
	wide := w
	for _, n := range c.Ints("merge_kernel_size") {
		wide *= n
	}
	if wide == w {
		wide = 4 * w // MoonViTConfig: 2 × 2
	}
	t.After = append(t.After, twoLayers(wide, wide, hidden, true)...)
	return t
}

// layersOr reads a number of layers that the class has a default for.
func (c *Config) layersOr(def int64, key string) int {
	return int(min(c.IntOr(def, key), maxLayers))
}
