package family

import (
	"slices"

	"github.com/memwall/memwall/dtype"
)

// qwen2vl: Qwen2-VL and Qwen2.5-VL (arXiv:2409.12191, arXiv:2502.13923): Qwen2 with a tower of its own, whose
// fields stand beside the text model's or, in later configs, beside a text_config.
var qwen2vl = &Family{
	Name: "qwen2vl", Classes: []string{"Qwen2VLForConditionalGeneration", "Qwen2_5_VLForConditionalGeneration"}, Types: []string{"qwen2_vl", "qwen2_5_vl"},
	Config: func(c *Config) *Spec {
		t := c.Text()
		s := c.outerTie(t.qwen(t.heads().bias(true, true, false)))
		v := c.part("vision_config")
		if c.Class() == "Qwen2VLForConditionalGeneration" || c.Str("model_type") == "qwen2_vl" {
			s.Vision = v.qwen2Vision(s.Hidden)
		} else {
			s.Vision = v.qwen25Vision()
		}
		return s
	},
	Header: func(m *Meta) *Spec { return m.qwen(func(a Attention) Attention { return a.bias(true, true, false) }) },
}

// qwen3vl: Qwen3 with a tower that also feeds deeper layers (arXiv:2511.21631).
var qwen3vl = &Family{
	Name: "qwen3vl", Classes: []string{"Qwen3VLForConditionalGeneration"}, Types: []string{"qwen3_vl"},
	Config: func(c *Config) *Spec { return c.qwen3VL() },
	Header: func(m *Meta) *Spec { return m.qwen(normed) },
}

var qwen3vlmoe = &Family{
	Name: "qwen3vlmoe", Classes: []string{"Qwen3VLMoeForConditionalGeneration"}, Types: []string{"qwen3_vl_moe"},
	Config: func(c *Config) *Spec { return c.qwen3VL() },
	Header: func(m *Meta) *Spec { return m.qwen(normed) },
}

func (c *Config) qwen3VL() *Spec {
	t := c.Text()
	s := c.outerTie(t.qwen(normed(t.heads())))
	s.Vision = c.qwenVision()
	return s
}

// qwen2VisionDefaults are those of Qwen2VLVisionConfig, which early configs leave out.
var qwen2VisionDefaults = map[string]int64{"depth": 32, "embed_dim": 1280, "num_heads": 16, "mlp_ratio": 4, "in_channels": 3, "patch_size": 14, "spatial_merge_size": 2, "temporal_patch_size": 2}

// qwen2Vision has layer norms, an ungated MLP and no learned positions; hidden_size is the decoder's width.
func (c *Config) qwen2Vision(hidden int64) *Tower {
	c.as("in_channels", "in_chans", "in_channels")
	c.defaults(qwen2VisionDefaults)
	w := c.Int("embed_dim")
	t := &Tower{Width: w, Layers: fusedBlocks(int(min(c.Int("depth"), maxLayers)), w, c.Int("mlp_ratio")*w, c.Int("num_heads")),
		Before: []Weight{mapping(dtype.VisionPatch, c.framePatch(), w, false)}}
	t.After = c.merger(w, LayerNormBias, hidden)
	return t
}

// qwen25Vision has RMS norms and a gated MLP; most of its layers look into windows of the image.
func (c *Config) qwen25Vision() *Tower {
	c.defaults(map[string]int64{"depth": 32, "hidden_size": 3584, "intermediate_size": 3420, "num_heads": 16, "patch_size": 14, "spatial_merge_size": 2, "temporal_patch_size": 2})
	c.as("in_channels", "in_chans", "in_channels")
	w := c.Int("hidden_size")
	a := seeing(w, c.Int("num_heads")).bias(true, true, true)
	a.KVHeads = c.IntOr(a.Heads, "num_key_value_heads")
	a.Fused = true
	l := Layer{Norm: RMS, Attn: a, FFN: MLP{Inner: c.Int("intermediate_size"), Gated: true, Bias: true}}
	t := &Tower{Width: w, Layers: c.windowed(l, int(min(c.Int("depth"), maxLayers))), Before: []Weight{mapping(dtype.VisionPatch, c.framePatch(), w, false)}}
	t.After = c.merger(w, RMS, c.Int("out_hidden_size"))
	return t
}

// windowed are layers of which those in fullatt_block_indexes see all patches, and others those of a window of window_size pixels a side.
// Defaults are those of Qwen2_5_VLVisionConfig.
func (c *Config) windowed(l Layer, n int) []Layer {
	out := repeat(l, n)
	side := c.IntOr(112, "window_size") / max(1, c.Int("patch_size"))
	whole := c.Ints("fullatt_block_indexes")
	if !c.Has("fullatt_block_indexes") {
		whole = []int64{7, 15, 23, 31}
	}
	for i := range out {
		if !slices.Contains(whole, int64(i)) {
			out[i].Attn.Chunk = side * side
		}
	}
	return out
}

// framePatch is how many numbers a patch has: channels × frames × height × width.
func (c *Config) framePatch() int64 {
	p := c.Int("patch_size")
	return c.IntOr(3, "in_channels") * c.IntOr(2, "temporal_patch_size") * p * p
}

// merger normalises patches, joins neighbours to one token and maps it to the decoder's width.
func (c *Config) merger(width int64, norm NormKind, out int64) []Weight {
	m := c.IntOr(2, "spatial_merge_size")
	wide := width * m * m
	return append([]Weight{norms(dtype.ProjectorNorm, norm, width)}, twoLayers(wide, wide, out, true)...)
}

// fusedBlocks are blocks with one matrix for queries, keys and values.
func fusedBlocks(n int, width, inner, heads int64) []Layer {
	out := blocks(n, width, inner, heads)
	for i := range out {
		out[i].Attn.Fused = true
	}
	return out
}

// qwenVision reads the tower of Qwen3-VL and Qwen3.5: patches over two frames, learned positions, a merger
// of 2 × 2 patches, and in Qwen3-VL mergers for deeper layers.
func (c *Config) qwenVision() *Tower {
	v := c.Sub("vision_config")
	if v == nil {
		return nil
	}
	w, merge := v.Int("hidden_size"), v.IntOr(2, "spatial_merge_size")
	t := &Tower{Width: w, Layers: fusedBlocks(int(min(v.Int("depth"), maxLayers)), w, v.Int("intermediate_size"), v.Int("num_heads")),
		Before: []Weight{mapping(dtype.VisionPatch, v.framePatch(), w, true)}}
	if n := v.IntOr(0, "num_position_embeddings"); n > 0 {
		t.Before = append(t.Before, table(dtype.VisionPosition, n, w))
	}
	wide, out := w*merge*merge, v.Int("out_hidden_size")
	t.After = v.merger(w, LayerNormBias, out)
	for range min(len(v.Ints("deepstack_visual_indexes")), 64) {
		t.After = append(t.After, branched(norms(dtype.DeepStackNorm, LayerNormBias, wide)), mapping(dtype.DeepStackIn, wide, wide, true), mapping(dtype.DeepStackOut, wide, out, true))
	}
	return t
}

// qwen25Omni is the thinker of Qwen2.5-Omni (arXiv:2503.20215), which engines serve alone: Qwen2.5-VL and Whisper's
// encoder without stored positions, with tokens for the bounds of a clip.
var qwen25Omni = &Family{
	Name: "qwen2.5-omni", Classes: []string{"Qwen2_5OmniThinkerForConditionalGeneration"}, Types: []string{"qwen2_5_omni_thinker"},
	Config: qwen25Thinker,
}

func qwen25Thinker(c *Config) *Spec {
	t := c.part("text_config")
	s := t.qwen(t.heads().bias(true, true, false))
	s.Family = "qwen2vl"
	s.Vision = c.part("vision_config").qwen25Vision()
	a := c.part("audio_config")
	w := a.Int("d_model")
	audio := a.whisperTower(w, false)
	out := a.Int("output_dim")
	audio.After = append(audio.After, mapping(dtype.ProjectorIn, w, out, true), Weight{Role: dtype.AudioBounds, Use: MixesIn, In: 2, Out: out})
	s.Beside = []*Tower{audio}
	return c.outerTie(s)
}
