package family

import (
	"encoding/json"
	"maps"
	"strconv"

	"github.com/memwall/memwall/dtype"
)

// phi4mm: Phi-4-multimodal (arXiv:2503.01743; transformers, models/phi4_multimodal, and the published class
// Phi4MMForCausalLM): Phi-4-mini with low-rank branches for image and for speech tokens, SigLIP with its pooling head, a
// conformer. transformers stores the branches as adapters; the published class has them in the model.
var phi4mm = &Family{
	Name: "phi4-multimodal", Classes: []string{"Phi4MMForCausalLM", "Phi4MultimodalForCausalLM"}, Types: []string{"phi4mm", "phi4_multimodal"},
	Config: func(c *Config) *Spec {
		s := phi3.Config(c)
		s.Family = phi3.Name
		for i, key := range []string{"vision_lora", "speech_lora"} {
			if r := c.Sub(key); r != nil {
				for j := range s.Layers {
					s.Layers[j].Branches[i] = Branch{QKV: r.Int("r"), Rest: r.Int("r")}
				}
			}
		}
		s.Vision, s.Beside = c.phi4Vision(s.Hidden), []*Tower{c.phi4Audio(s.Hidden)}
		return s
	},
}

// sub gives a nested object, or an empty one where the class has all defaults.
func (c *Config) sub(keys ...string) *Config {
	for _, key := range keys {
		next := c.Sub(key)
		if next == nil {
			return &Config{m: map[string]any{}, path: c.path + key + ".", err: c.err, find: c.find}
		}
		c = next
	}
	return &Config{m: maps.Clone(c.m), path: c.path, err: c.err, find: c.find}
}

func (c *Config) phi4Vision(hidden int64) *Tower {
	v := c.sub("vision_config")
	v.defaults(map[string]int64{"hidden_size": 1152, "intermediate_size": 4304, "num_hidden_layers": 27, "num_attention_heads": 16, "image_size": 448, "patch_size": 14})
	t := v.siglipTower()
	t.After = append(t.After, poolingHead(t.Width, v.Int("intermediate_size"))...)
	t.After = append(t.After, mixesIn(dtype.VisionNewline, t.Width), mixesIn(dtype.VisionSeparator, t.Width))
	return t.then(twoLayers(t.Width, hidden, hidden, true)...)
}

// phi4Audio reads the conformer: the published class names its sizes otherwise than transformers, and counts half of the
// distances that biases are learned for.
func (c *Config) phi4Audio(hidden int64) *Tower {
	a := c.sub("audio_config")
	if c.Has("audio_processor") {
		a = c.sub("audio_processor", "config")
		a.as("hidden_size", "attention_dim")
		a.as("intermediate_size", "linear_units")
		a.as("num_attention_heads", "attention_heads")
		d := a.sub("relative_attention_bias_args").IntOr(500, "t5_bias_max_distance")
		a.m["bias_max_distance"] = json.Number(strconv.FormatInt(d, 10))
	}
	a.defaults(map[string]int64{"hidden_size": 1024, "intermediate_size": 1536, "num_blocks": 24, "num_attention_heads": 16, "kernel_size": 3, "input_size": 80, "bias_max_distance": 1000, "nemo_conv_channels": 1024})
	w, h := a.Int("hidden_size"), a.Int("num_attention_heads")
	distances := a.Int("bias_max_distance")
	if !a.Bool(false, "bias_symmetric") {
		distances *= 2
	}
	t := &Tower{Name: PartAudio, Width: w, Layers: rows(a.stack(24, "num_blocks"), "conformer", phi4Conformer(w, h, a.Int("intermediate_size"), a.Int("kernel_size"))...)}
	t.Before = append(a.nemo(w), Weight{Role: dtype.AttnRelBias, Use: MixesIn, In: distances, Out: h})
	for range 2 { // for speech alone, and beside an image
		t.then(twoLayers(w, hidden, hidden, true)...)
	}
	return t
}

// nemo shortens a clip eight times: a convolution, and two that are parted into depth and width; means and deviations of the
// features are stored.
func (c *Config) nemo(w int64) []Weight {
	ch, in := c.Int("nemo_conv_channels"), c.Int("input_size")
	features := table(dtype.AudioBounds, 2, in)
	features.Fixed = true
	out := []Weight{features, mapping(dtype.AudioConv1, 9, ch, true)}
	for range 2 {
		out = append(out, mapping(dtype.ConvDepth, 9, ch, true), mapping(dtype.AudioConv2, ch, ch, true))
	}
	return append(out, mapping(dtype.AudioIn, ch*((in+7)/8), w, true))
}

// phi4Conformer is half an MLP, attention, a gated convolution, half an MLP; norms and matrices have biases.
func phi4Conformer(w, heads, inner, kernel int64) []Weight {
	half := func(pre, up, down dtype.Role) []Weight {
		return []Weight{norms(pre, LayerNormBias, w), mapping(up, w, 2*inner, true), mapping(down, inner, w, true)}
	}
	out := half(dtype.FFNNorm1, dtype.FFNUp1, dtype.FFNDown1)
	out = append(out, norms(dtype.AttnNorm, LayerNormBias, w), mapping(dtype.AttnQ, w, w, true), mapping(dtype.AttnK, w, w, true), mapping(dtype.AttnV, w, w, true),
		attends(heads, w/max(1, heads)), mapping(dtype.AttnOutput, w, w, true))
	out = append(out, norms(dtype.ConvNorm, LayerNormBias, w), mapping(dtype.ConvIn, w, 2*w, true), mixesIn(dtype.AttnDimScale, 2*w), mapping(dtype.ConvDepth, kernel, w, true),
		mapping(dtype.ConvMid, w, w, true), mapping(dtype.ConvOut, w, w, true))
	out = append(out, half(dtype.FFNNorm, dtype.FFNUp, dtype.FFNDown)...)
	return append(out, norms(dtype.LayerOutNorm, LayerNormBias, w))
}
