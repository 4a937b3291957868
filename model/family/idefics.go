package family

import "github.com/memwall/memwall/dtype"

// idefics3: Idefics3 and SmolVLM (arXiv:2408.12637, arXiv:2504.05299): SigLIP, neighbours joined, one linear
// map without a bias.
var idefics3 = &Family{
	Name: "idefics3", Classes: []string{"Idefics3ForConditionalGeneration", "SmolVLMForConditionalGeneration"}, Types: []string{"idefics3", "smolvlm"},
	Config: func(c *Config) *Spec {
		s := c.wrapped("text_config")
		v := c.part("vision_config")
		v.defaults(map[string]int64{"hidden_size": 1152, "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 16, "patch_size": 32})
		t := v.siglipTower()
		f := c.IntOr(2, "scale_factor")
		t.After = append(t.After, mapping(dtype.ProjectorIn, t.Width*f*f, s.Hidden, false))
		s.Vision = t
		return s
	},
}

// paligemma: PaliGemma 1 and 2 (arXiv:2407.07726, arXiv:2412.03555): SigLIP, one linear map, Gemma.
var paligemma = &Family{
	Name: "paligemma", Classes: []string{"PaliGemmaForConditionalGeneration"}, Types: []string{"paligemma"},
	Config: func(c *Config) *Spec {
		s := c.wrapped("text_config")
		v := c.part("vision_config")
		t := v.siglipTower()
		side := v.Int("image_size") / v.Int("patch_size")
		t.Tokens = side * side
		t.After = append(t.After, mapping(dtype.ProjectorIn, t.Width, v.IntOr(c.IntOr(2048, "projection_dim"), "projection_dim"), true))
		s.Vision = t
		return s
	},
}

// lfm2vl: LFM2 with a SigLIP 2 encoder and two linear maps of joined patches.
var lfm2vl = &Family{
	Name: "lfm2vl", Classes: []string{"Lfm2VlForConditionalGeneration"}, Types: []string{"lfm2-vl", "lfm2_vl"},
	Config: func(c *Config) *Spec {
		s := c.wrapped("text_config")
		t := c.part("vision_config").tower()
		f := c.IntOr(2, "downsample_factor")
		in, mid, b := t.Width*f*f, c.IntOr(2560, "projector_hidden_size"), c.Bool(true, "projector_bias")
		if c.Bool(true, "projector_use_layernorm") {
			t.After = append(t.After, norms(dtype.ProjectorNorm, LayerNormBias, in))
		}
		t.After = append(t.After, twoLayers(in, mid, s.Hidden, b)...)
		s.Vision = t
		return s
	},
}
