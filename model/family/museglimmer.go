package family

import "github.com/memwall/memwall/dtype"

// museGlimmer: Meta's Muse Glimmer: norms before and after each branch, queries and keys normalised without a weight, a gate on
// every element of attention's output, three sliding layers to one that has no rotary positions; beside it a perception
// encoder (arXiv:2504.13181) of which two by two patches are mapped by three matrices (vLLM, models/muse_glimmer).
var museGlimmer = &Family{
	Name: "muse-glimmer", Classes: []string{"MuseGlimmerForConditionalGeneration", "MuseGlimmerForCausalLM"},
	Types: []string{"muse_glimmer", "muse_glimmer_text"},
	Config: func(c *Config) *Spec {
		t := c.Text()
		s := t.base(false)
		a := t.heads()
		a.QKNorm = Weightless
		if t.Bool(true, "gated_attention") {
			a.OutGate = a.DimV
		}
		n := t.Layers()
		layers := repeat(Layer{Norm: RMS, Place: Sandwich, Attn: a, FFN: t.gated()}, n)
		exaone4Spec(s, layers, t.Int("sliding_window"), t.sliding(n, 4))
		s.HeadScale, s.HeadCap = true, t.Float(20, "final_logit_softcapping") != 0
		if v := c.Sub("vision_config"); v != nil {
			s.Vision = v.perceptionEncoder(s.Hidden)
		}
		return c.outerTie(s)
	},
}

// perceptionEncoder takes two frames a patch.
func (c *Config) perceptionEncoder(hidden int64) *Tower {
	c.defaults(map[string]int64{"patch_size": 14, "num_positions": 1024, "spatial_merge_size": 2, "temporal_patch_size": 2,
		"projector_hidden_size": 4096})
	w, m, mid := c.Int("hidden_size"), c.Int("spatial_merge_size"), c.Int("projector_hidden_size")
	return &Tower{Width: w, Layers: blocks(c.Layers(), w, c.Int("intermediate_size"), c.Int("num_attention_heads")),
		Before: []Weight{mapping(dtype.VisionPatch, c.framePatch(), w, false), table(dtype.VisionPosition, c.Int("num_positions"), w),
			norms(dtype.VisionPreNorm, LayerNormBias, w)},
		After: []Weight{norms(dtype.VisionPostNorm, LayerNormBias, w), mapping(dtype.ProjectorIn, w*m*m, mid, false),
			mapping(dtype.ProjectorMid, mid, mid, false),
			mapping(dtype.ProjectorOut, mid, hidden, false)}}
}
