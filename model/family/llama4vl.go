package family

import "github.com/memwall/memwall/dtype"

// llama4vl: Llama 4 with its tower (transformers, models/llama4/modeling_llama4.py).
var llama4vl = &Family{
	Name: "llama4-vl", Classes: []string{"Llama4ForConditionalGeneration"}, Types: []string{"llama4"},
	Config: func(c *Config) *Spec {
		s := c.wrapped("text_config")
		s.Vision = c.llama4Vision(s.Hidden)
		return s
	},
}

// llama4VisionSizes are the tower of both published models (config.json of Llama-4-Scout-17B-16E-Instruct), for copies
// that leave its fields out.
var llama4VisionSizes = map[string]int64{"hidden_size": 1408, "num_hidden_layers": 34, "num_attention_heads": 16, "num_channels": 3, "intermediate_size": 5632,
	"vision_output_dim": 4096, "image_size": 336, "patch_size": 14, "projector_input_dim": 4096, "projector_output_dim": 4096}

// llama4Vision: patches cut by a linear map, a class token, learned and rotary positions, a shuffle that joins
// four patches, and three maps without biases.
func (c *Config) llama4Vision(hidden int64) *Tower {
	if !c.Has("vision_config") {
		c.m["vision_config"] = map[string]any{}
	}
	v := c.part("vision_config")
	v.defaults(llama4VisionSizes)
	w, p := v.Int("hidden_size"), v.Int("patch_size")
	side := v.Int("image_size") / p
	in, out := v.Int("projector_input_dim"), v.Int("projector_output_dim")
	return &Tower{Width: w, Layers: blocks(v.Layers(), w, v.Int("intermediate_size"), v.Int("num_attention_heads")),
		Before: []Weight{mapping(dtype.VisionPatch, v.Int("num_channels")*p*p, w, false), mixesIn(dtype.VisionClass, w),
			table(dtype.VisionPosition, side*side+1, w), norms(dtype.VisionPreNorm, LayerNormBias, w)},
		After: []Weight{norms(dtype.VisionPostNorm, LayerNormBias, w), mapping(dtype.ProjectorMid, v.Int("intermediate_size"), in, false),
			mapping(dtype.ProjectorMerge, in, out, false), mapping(dtype.ProjectorIn, v.Int("vision_output_dim"), hidden, false)}}
}
