package family

import "github.com/memwall/memwall/dtype"

// siglip reads Gemma 3's tower: SigLIP (arXiv:2303.15343) and a projection without bias of pooled tokens.
func (c *Config) siglip(hidden int64) *Tower {
	v := c.Sub("vision_config")
	if v == nil {
		return nil
	}
	t := v.siglipTower()
	t.Tokens = c.IntOr(256, "mm_tokens_per_image")
	t.After = append(t.After, norms(dtype.ProjectorNorm, RMS, t.Width), mapping(dtype.ProjectorIn, t.Width, hidden, false))
	return t
}

// siglipTower reads a SigLIP encoder: patches with a bias, learned positions, a norm after the blocks
// (transformers, models/siglip/modeling_siglip.py). Its pooling head is not part of towers.
func (c *Config) siglipTower() *Tower {
	c.defaults(siglipDefaults)
	patch := c.Int("patch_size")
	side := c.Int("image_size") / patch
	return c.siglipOf(c.IntOr(3, "num_channels")*patch*patch, side*side)
}

// siglipDefaults are those of SiglipVisionConfig, which published configs leave out.
var siglipDefaults = map[string]int64{
	"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12, "num_channels": 3, "image_size": 224, "patch_size": 16,
}

// so400m is SigLIP's shape of 400M parameters (arXiv:2305.13035).
var so400m = map[string]int64{"hidden_size": 1152, "intermediate_size": 4304, "num_hidden_layers": 27, "num_attention_heads": 16}

// siglipOf has blocks after patches of so many numbers at so many positions.
func (c *Config) siglipOf(patch, positions int64) *Tower {
	w := c.Int("hidden_size")
	return &Tower{Width: w, Layers: blocks(c.Layers(), w, c.Int("intermediate_size"), c.Int("num_attention_heads")),
		Before: []Weight{mapping(dtype.VisionPatch, patch, w, true), table(dtype.VisionPosition, positions, w)},
		After:  []Weight{norms(dtype.VisionPostNorm, LayerNormBias, w)}}
}

// clipDefaults are those of CLIPVisionConfig.
var clipDefaults = map[string]int64{
	"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12, "num_channels": 3, "image_size": 224, "patch_size": 32,
}

// clipTower reads a CLIP encoder of images (arXiv:2103.00020): patches without a bias, a class token, norms
// before and after the blocks (transformers, models/clip/modeling_clip.py).
func (c *Config) clipTower() *Tower {
	c.defaults(clipDefaults)
	w, patch := c.Int("hidden_size"), c.Int("patch_size")
	side := c.Int("image_size") / patch
	return &Tower{Width: w, Layers: blocks(c.Layers(), w, c.Int("intermediate_size"), c.Int("num_attention_heads")),
		Before: []Weight{mapping(dtype.VisionPatch, c.IntOr(3, "num_channels")*patch*patch, w, false), mixesIn(dtype.VisionClass, w),
			table(dtype.VisionPosition, side*side+1, w), norms(dtype.VisionPreNorm, LayerNormBias, w)},
		After: []Weight{norms(dtype.VisionPostNorm, LayerNormBias, w)}}
}

// twoLayers is a projector of two linear maps.
func twoLayers(in, mid, out int64, bias bool) []Weight {
	return []Weight{mapping(dtype.ProjectorIn, in, mid, bias), mapping(dtype.ProjectorOut, mid, out, bias)}
}

// gemma4Vision reads Gemma 4's tower (transformers, models/gemma4/modeling_gemma4.py): the text model's layers
// without a cache, a table of positions for each axis, and a projection of pooled patches.
func (c *Config) gemma4Vision(hidden int64) *Tower {
	v := c.Sub("vision_config")
	if v == nil {
		return nil
	}
	w, p := v.Int("hidden_size"), v.Int("patch_size")
	a := v.heads()
	a.Bidirectional, a.QKNorm, a.VNorm = true, PerHead, true
	l := Layer{Norm: RMS, Place: Sandwich, Attn: a, FFN: v.gated()}
	l.FFN.Act = GELU
	t := &Tower{Width: w, Layers: repeat(l, v.Layers()), Tokens: c.IntOr(v.IntOr(0, "default_output_length"), "vision_soft_tokens_per_image"),
		Before: []Weight{mapping(dtype.VisionPatch, 3*p*p, w, false), table(dtype.VisionPosition, 2*v.IntOr(10240, "position_embedding_size"), w)}}
	t.After = append(t.After, mapping(dtype.ProjectorIn, w, hidden, false))
	return t
}
