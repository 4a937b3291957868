package family

import (
	"strings"

	"github.com/memwall/memwall/dtype"
)

// llava: LLaVA (arXiv:2304.08485) and LLaVA-NeXT in the form of transformers: a CLIP or SigLIP encoder, two
// linear maps, a text model of any family. Pixtral 12B and others are published in this form too.
var llava = &Family{
	Name: "llava", Types: []string{"llava", "llava_next", "llava_onevision", "vipllava"},
	Classes: []string{"LlavaForConditionalGeneration", "LlavaNextForConditionalGeneration", "LlavaOnevisionForConditionalGeneration"},
	Config: func(c *Config) *Spec {
		s := c.wrapped("text_config")
		v := c.part("vision_config")
		s.Vision = v.tower()
		if t := s.Vision; t != nil {
			b := c.Bool(true, "multimodal_projector_bias")
			t.After = append(t.After, twoLayers(t.Width, s.Hidden, s.Hidden, b)...)
			if !c.firstLLaVA() {
				t.After = append(t.After, mixesIn(dtype.VisionNewline, s.Hidden))
			}
			t.Tokens = c.llavaTokens(v)
		}
		return s
	},
}

// firstLLaVA: the first form takes one image of a fixed size; the later ones join parts of it with separators.
func (c *Config) firstLLaVA() bool {
	return c.Class() == "LlavaForConditionalGeneration" || c.Class() == "" && c.Str("model_type") == "llava"
}

// llavaTokens: with one image of a fixed size, every patch is a token.
func (c *Config) llavaTokens(v *Config) int64 {
	if !c.firstLLaVA() || v.Str("model_type") == "pixtral" {
		return 0
	}
	side := v.Int("image_size") / v.Int("patch_size")
	return side * side
}

// tower reads an encoder of images by its model type.
func (c *Config) tower() *Tower {
	switch kind := c.Str("model_type"); kind {
	case "clip_vision_model", "":
		return c.clipTower()
	case "siglip_vision_model":
		return c.siglipTower()
	case "siglip2_vision_model":
		return c.siglip2Tower()
	case "pixtral":
		return c.pixtralTower()
	}
	c.lacks("model_type", c.m["model_type"], "names an encoder of images that is not described", fromFiles)
	return &Tower{}
}

// siglip2Tower takes patches as rows of numbers, so that images may have any shape (arXiv:2502.14786).
func (c *Config) siglip2Tower() *Tower {
	c.defaults(siglipDefaults)
	p := c.Int("patch_size")
	return c.siglipOf(c.IntOr(3, "num_channels")*p*p, c.IntOr(256, "num_patches"))
}

// pixtralDefaults are those of PixtralVisionConfig.
var pixtralDefaults = map[string]int64{"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24, "num_attention_heads": 16, "num_channels": 3, "image_size": 1024, "patch_size": 16}

// pixtralTower has rotary positions, RMS norms and a gated MLP without biases (arXiv:2410.07073).
func (c *Config) pixtralTower() *Tower {
	c.defaults(pixtralDefaults)
	w, p := c.Int("hidden_size"), c.Int("patch_size")
	l := Layer{Norm: RMS, Attn: seeing(w, c.Int("num_attention_heads")), FFN: c.gated()}
	return &Tower{Width: w, Layers: repeat(l, c.Layers()),
		Before: []Weight{mapping(dtype.VisionPatch, c.IntOr(3, "num_channels")*p*p, w, false), norms(dtype.VisionPreNorm, RMS, w)}}
}

// mistral3: Mistral Small 3.1 and later: Pixtral's encoder, neighbours joined by a linear map, two more.
var mistral3 = &Family{
	Name: "mistral3", Classes: []string{"Mistral3ForConditionalGeneration"}, Types: []string{"mistral3"},
	Config: func(c *Config) *Spec {
		s := c.wrapped("text_config")
		if !c.Has("vision_config") {
			c.m["vision_config"] = map[string]any{"model_type": "pixtral"}
			c.Sub("vision_config").defaults(with(pixtralDefaults, map[string]int64{"image_size": 1540, "patch_size": 14}))
		}
		t := c.Sub("vision_config").tower()
		m := c.IntOr(2, "spatial_merge_size")
		t.After = append(t.After, norms(dtype.ProjectorNorm, RMS, t.Width), mapping(dtype.ProjectorMerge, t.Width*m*m, t.Width, false))
		t.After = append(t.After, twoLayers(t.Width, s.Hidden, s.Hidden, c.Bool(false, "multimodal_projector_bias"))...)
		s.Vision = t
		return s
	},
}

// llavaLlama is LLaVA as its authors publish it: the text model's fields stand at the top, and the encoder is
// known by its name alone.
var llavaLlama = &Family{
	Name: "llava-llama", Classes: []string{"LlavaLlamaForCausalLM", "LlavaMistralForCausalLM", "LlavaQwenForCausalLM"}, Types: []string{"llava_llama", "llava_mistral", "llava_qwen"},
	Config: func(c *Config) *Spec {
		inner := map[string]string{"LlavaMistralForCausalLM": "mistral", "LlavaQwenForCausalLM": "qwen2"}[c.Class()]
		if inner == "" {
			inner = "llama"
		}
		f := c.find("", inner)
		s := f.Config(c)
		s.Family = f.Name
		t := c.namedTower("mm_vision_tower")
		switch kind := c.Str("mm_projector_type"); kind {
		case "mlp2x_gelu":
			t.After = append(t.After, twoLayers(t.Width, s.Hidden, s.Hidden, true)...)
		case "", "linear":
			t.After = append(t.After, mapping(dtype.ProjectorIn, t.Width, s.Hidden, true))
		default:
			c.lacks("mm_projector_type", kind, "is a projector that is not described", fromFiles)
		}
		if strings.HasSuffix(c.Str("mm_patch_merge_type"), "unpad") {
			t.After = append(t.After, mixesIn(dtype.VisionNewline, s.Hidden))
		}
		s.Vision = t
		return s
	},
}

// namedTowers are published encoders that configs name without their sizes: those of their own config.json.
var namedTowers = map[string]struct {
	clip bool
	size map[string]int64
}{
	"openai/clip-vit-large-patch14":     {true, map[string]int64{"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24, "num_attention_heads": 16, "image_size": 224, "patch_size": 14}},
	"openai/clip-vit-large-patch14-336": {true, map[string]int64{"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24, "num_attention_heads": 16, "image_size": 336, "patch_size": 14}},
	"google/siglip-so400m-patch14-384":  {false, map[string]int64{"hidden_size": 1152, "intermediate_size": 4304, "num_hidden_layers": 27, "num_attention_heads": 16, "image_size": 384, "patch_size": 14}},
}

// namedTower builds an encoder that a field names.
func (c *Config) namedTower(key string) *Tower {
	known, ok := namedTowers[c.Str(key)]
	if !ok {
		c.lacks(key, c.m[key], "names an encoder whose sizes the config does not give", fromFiles)
		return &Tower{}
	}
	v := &Config{m: map[string]any{}, path: c.path, err: c.err, find: c.find}
	v.defaults(known.size)
	if known.clip {
		return v.clipTower()
	}
	return v.siglipTower()
}
