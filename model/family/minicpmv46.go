package family

import "github.com/memwall/memwall/dtype"

// minicpmv46: MiniCPM-V 4.6: Qwen3.5 behind SigLIP, in which a layer of attention within windows joins patches two by two, and
// an MLP joins them so again (transformers, models/minicpmv4_6).
var minicpmv46 = &Family{
	Name: "minicpmv4-6", Classes: []string{"MiniCPMV4_6ForConditionalGeneration"}, Types: []string{"minicpmv4_6"},
	Config: func(c *Config) *Spec {
		s := c.outerTie(qwen35.Config(c.part("text_config")))
		s.Family = qwen35.Name
		v := c.part("vision_config")
		v.defaults(map[string]int64{"hidden_size": 1152, "intermediate_size": 4304, "num_hidden_layers": 27,
			"num_attention_heads": 16, "image_size": 980, "patch_size": 14})
		t := v.siglipTower()
		wide := 4 * t.Width
		t.After = append(windowMerger(t.Width, v.Int("intermediate_size")), t.After...)
		t.After = append(t.After, norms(dtype.ProjectorNorm, LayerNormBias, wide), mapping(dtype.ProjectorIn, wide, wide, true),
			mapping(dtype.ProjectorOut, wide, s.Hidden, true))
		s.Vision = t
		return s
	},
}

// windowMerger stands between two blocks: attention among four patches, and an MLP from all four to one.
func windowMerger(w, inner int64) []Weight {
	return []Weight{norms(dtype.LatentNorm, LayerNormBias, w), mapping(dtype.LatentQ, w, w, true), mapping(dtype.LatentK, w, w,
		true), mapping(dtype.LatentV, w, w, true),
		mapping(dtype.LatentOut, w, w, true), norms(dtype.LatentFFNNorm, LayerNormBias, 4*w), mapping(dtype.LatentUp, 4*w, 4*inner,
			true), mapping(dtype.LatentDown, 4*inner, w, true)}
}
