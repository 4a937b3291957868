package family

import "github.com/memwall/memwall/dtype"

// cogVLM2: CogVLM2's model of clips (arXiv:2408.16500): EVA2-CLIP, four patches joined by a convolution, a gated MLP at the
// text's width, Llama 3. It has none of the experts for image tokens of its sibling for pictures.
var cogVLM2 = &Family{
	Name: "cogvlm2", Classes: []string{"CogVLMVideoForCausalLM"}, Types: []string{"cogvlm2"},
	Config: func(c *Config) *Spec {
		c.as("num_key_value_heads", "num_multi_query_heads", "num_key_value_heads")
		s := c.base(false)
		a := c.heads()
		a.Fused = true
		s.Layers = repeat(Layer{Norm: RMS, Attn: a, FFN: c.gated()}, c.Layers())
		s.Family = llama.Name
		v := c.part("vision_config")
		w, p := v.Int("hidden_size"), v.Int("patch_size")
		t := &Tower{Width: w, Layers: fusedBlocks(v.Layers(), w, v.Int("intermediate_size"), v.Int("num_heads")),
			Before: []Weight{mapping(dtype.VisionPatch, v.IntOr(3, "in_channels")*p*p, w, true), mixesIn(dtype.VisionClass, w), table(dtype.VisionPosition, v.Int("num_positions"), w)}}
		inner := c.Int("intermediate_size")
		t.After = []Weight{mapping(dtype.ProjectorMerge, 4*w, w, true), mapping(dtype.ProjectorIn, w, s.Hidden, false), norms(dtype.ProjectorNorm, LayerNormBias, s.Hidden),
			mapping(dtype.FFNGate, s.Hidden, inner, false), mapping(dtype.ProjectorMid, s.Hidden, inner, false), mapping(dtype.ProjectorOut, inner, s.Hidden, false),
			{Role: dtype.VisionSeparator, Use: MixesIn, In: 2, Out: s.Hidden}}
		s.Vision = t
		return s
	},
}
