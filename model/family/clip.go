package family

import (
	"maps"

	"github.com/memwall/memwall/dtype"
)

// clip: both towers of CLIP (arXiv:2103.00020), each with a map to a common space (transformers,
// models/clip/modeling_clip.py). The text tower is the model's first part.
var clip = &Family{
	Name: "clip", Classes: []string{"CLIPModel"}, Types: []string{"clip"},
	Config: func(c *Config) *Spec {
		width := c.IntOr(512, "projection_dim")
		t, v := c.part("text_config"), c.part("vision_config")
		s := t.clipText()
		s.After = append(s.After, mapping(dtype.TextProj, s.Hidden, width, false), mixesIn(dtype.LogitScale, 1))
		s.Vision = v.clipTower()
		s.Vision.After = append(s.Vision.After, mapping(dtype.ProjectorIn, s.Vision.Width, width, false))
		if s.Native == nil {
			s.Native = c.Native()
		}
		return s
	},
}

// clipTextModel is the text tower alone, as image generators use it.
var clipTextModel = &Family{
	Name: "clip-text", Classes: []string{"CLIPTextModel", "CLIPTextModelWithProjection"}, Types: []string{"clip_text_model"},
	Config: func(c *Config) *Spec {
		s := c.clipText()
		if c.Class() == "CLIPTextModelWithProjection" {
			s.After = append(s.After, mapping(dtype.TextProj, s.Hidden, c.IntOr(512, "projection_dim"), false))
		}
		return s
	},
}

// clipVisionModel is the tower of images alone.
var clipVisionModel = &Family{
	Name: "clip-vision", Classes: []string{"CLIPVisionModel", "CLIPVisionModelWithProjection"}, Types: []string{"clip_vision_model"},
	Config: func(c *Config) *Spec {
		s := imageEncoder(c, c.clipTower())
		if c.Class() == "CLIPVisionModelWithProjection" {
			s.Vision.After = append(s.Vision.After, mapping(dtype.ProjectorIn, s.Hidden, c.IntOr(512, "projection_dim"), false))
		}
		return s
	},
}

// imageEncoder is a model that is one tower.
func imageEncoder(c *Config, t *Tower) *Spec {
	return &Spec{Encodes: true, NoHead: true, Hidden: t.Width, Native: c.Native(), Vision: t}
}

func (c *Config) clipText() *Spec {
	c.defaults(map[string]int64{"vocab_size": 49408, "hidden_size": 512, "intermediate_size": 2048, "num_hidden_layers": 12, "num_attention_heads": 8, "max_position_embeddings": 77})
	return c.textTower()
}

// textTower reads pre-norm layers with biases, learned positions and a last norm.
func (c *Config) textTower() *Spec {
	s := c.encoder()
	s.EmbedNorm, s.OutNorm = NoNorm, LayerNormBias
	s.Positions = c.Int("max_position_embeddings")
	s.Layers = blocks(c.Layers(), s.Hidden, c.Int("intermediate_size"), c.Int("num_attention_heads"))
	return s
}

// siglip: both towers of SigLIP (arXiv:2303.15343) with their heads; a scale and a bias of the logits.
var siglip = &Family{
	Name: "siglip", Classes: []string{"SiglipModel"}, Types: []string{"siglip"},
	Config: func(c *Config) *Spec {
		t, v := c.part("text_config"), c.part("vision_config")
		t.defaults(map[string]int64{"vocab_size": 32000, "hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12, "max_position_embeddings": 64})
		s := t.textTower()
		s.After = append(s.After, mapping(dtype.TextProj, s.Hidden, t.IntOr(s.Hidden, "projection_size"), true), mixesIn(dtype.LogitScale, 2))
		s.Vision = v.siglipTower()
		s.Vision.After = append(s.Vision.After, poolingHead(s.Vision.Width, v.Int("intermediate_size"))...)
		if s.Native == nil {
			s.Native = c.Native()
		}
		return s
	},
}

// siglipVisionModel is the tower of images alone, with its pooling head.
var siglipVisionModel = &Family{
	Name: "siglip-vision", Classes: []string{"SiglipVisionModel"}, Types: []string{"siglip_vision_model"},
	Config: func(c *Config) *Spec {
		t := c.siglipTower()
		if c.Bool(true, "vision_use_head") {
			t.After = append(t.After, poolingHead(t.Width, c.Int("intermediate_size"))...)
		}
		return imageEncoder(c, t)
	},
}

// vitDefaults are those of ViTConfig and Dinov2Config, which differ in the patch.
var vitDefaults = map[string]int64{"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072, "image_size": 224, "patch_size": 16, "num_channels": 3}

// vit: Vision Transformer (arXiv:2010.11929): a class token, learned positions, a last norm.
var vit = &Family{
	Name: "vit", Classes: []string{"ViTModel", "ViTForImageClassification"}, Types: []string{"vit"},
	Config: func(c *Config) *Spec {
		c.defaults(vitDefaults)
		t := c.classed(blocks(c.Layers(), c.Int("hidden_size"), c.Int("intermediate_size"), c.Int("num_attention_heads")))
		if c.Class() == "ViTForImageClassification" {
			t.After = append(t.After, mapping(dtype.ClassOut, t.Width, c.labels(), true))
		} else {
			t.After = append(t.After, mapping(dtype.Pooler, t.Width, t.Width, true))
		}
		return imageEncoder(c, t)
	},
}

// dinov2: ViT with a mask token and branches scaled by vectors (arXiv:2304.07193).
var dinov2 = &Family{
	Name: "dinov2", Classes: []string{"Dinov2Model", "Dinov2ForImageClassification"}, Types: []string{"dinov2"},
	Config: func(c *Config) *Spec {
		d := maps.Clone(vitDefaults)
		d["intermediate_size"] = c.IntOr(4, "mlp_ratio") * c.IntOr(768, "hidden_size")
		c.defaults(d)
		layers := blocks(c.Layers(), c.Int("hidden_size"), c.Int("intermediate_size"), c.Int("num_attention_heads"))
		for i := range layers {
			layers[i].LayerScale = true
			if c.Bool(false, "use_swiglu_ffn") {
				inner := (c.Int("intermediate_size")*2/3 + 7) / 8 * 8
				layers[i].FFN = MLP{Inner: inner, Gated: true, Fused: true, Bias: true}
			}
		}
		t := c.classed(layers)
		if c.Bool(true, "use_mask_token") {
			t.Before = append(t.Before, mixesIn(dtype.VisionMask, t.Width))
		}
		if c.Class() == "Dinov2ForImageClassification" {
			t.After = append(t.After, mapping(dtype.ClassOut, 2*t.Width, c.labels(), true))
		}
		return imageEncoder(c, t)
	},
}

// classed puts patches with a bias, a class token and learned positions before layers, a norm behind them.
func (c *Config) classed(layers []Layer) *Tower {
	w, p := c.Int("hidden_size"), c.Int("patch_size")
	side := c.Int("image_size") / p
	return &Tower{Width: w, Layers: layers,
		Before: []Weight{mapping(dtype.VisionPatch, c.Int("num_channels")*p*p, w, true), mixesIn(dtype.VisionClass, w), table(dtype.VisionPosition, side*side+1, w)},
		After:  []Weight{norms(dtype.VisionPostNorm, LayerNormBias, w)}}
}
