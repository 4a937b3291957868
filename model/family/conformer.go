package family

import "github.com/memwall/memwall/dtype"

// gemmaAudio reads the audio encoder of Gemma 3n and 4: convolutions that shorten a clip four times, then conformers
// (arXiv:2005.08100) whose attention looks back over a few frames (transformers, models/gemma3n and models/gemma4). The
// bounds of Gemma 4's linear maps are buffers.
func (c *Config) gemmaAudio() *Tower {
	w := c.IntOr(1024, "hidden_size")
	heads := max(1, c.IntOr(8, "num_attention_heads", "conf_num_attention_heads"))
	n := c.stack(12, "num_hidden_layers")
	if c.Has("conf_num_hidden_layers") {
		n = c.stack(12, "conf_num_hidden_layers")
	}
	first, second := c.shortening()
	kernel := c.IntOr(5, "conv_kernel_size", "conf_conv_kernel_size")
	t := &Tower{Name: PartAudio, Width: w, Layers: rows(n, "conformer", conformer(w, heads, kernel)...)}
	t.Before = []Weight{mapping(dtype.AudioConv1, 9, first, false), norms(dtype.AudioConvNorm, RMS, first), mapping(dtype.AudioConv2, 9*first, second, false), norms(dtype.AudioConvNorm, RMS, second),
		mapping(dtype.AudioIn, c.IntOr(128, "input_feat_size")/4*second, w, false)}
	if out := c.IntOr(0, "output_proj_dims"); out > 0 {
		t.After = append(t.After, mapping(dtype.AudioOut, w, out, true))
	}
	return t
}

// shortening reads the channels of the two convolutions.
func (c *Config) shortening() (first, second int64) {
	key := "subsampling_conv_channels"
	if c.Has("sscp_conv_channel_size") {
		key = "sscp_conv_channel_size"
	}
	channels := c.Ints(key)
	switch {
	case len(channels) == 0:
		return 128, 32
	case len(channels) != 2:
		c.fail(key, c.m[key], "is not the channels of two convolutions", "correct the config.json")
		return 1, 1
	}
	return channels[0], channels[1]
}

// conformer is half an MLP, attention with relative positions, a gated convolution over a few frames, and half an MLP.
func conformer(w, heads, kernel int64) []Weight {
	d := w / heads
	half := func(pre, up, down, post dtype.Role) []Weight {
		return []Weight{norms(pre, RMS, w), mapping(up, w, 4*w, false), mapping(down, 4*w, w, false), norms(post, RMS, w)}
	}
	out := half(dtype.FFNNorm1, dtype.FFNUp1, dtype.FFNDown1, dtype.FFNPostNorm1)
	out = append(out, norms(dtype.AttnNorm, RMS, w), mapping(dtype.AttnQ, w, w, false), mapping(dtype.AttnK, w, w, false), mapping(dtype.AttnV, w, w, false), mapping(dtype.AttnRelK, w, w, false),
		mixesIn(dtype.AttnDimScale, d), attends(heads, d), mapping(dtype.AttnOutput, w, w, false), norms(dtype.AttnPostNorm, RMS, w))
	out = append(out, norms(dtype.ConvNorm, RMS, w), mapping(dtype.ConvIn, w, 2*w, false), mapping(dtype.ConvDepth, kernel, w, false), norms(dtype.ConvMidNorm, RMS, w), mapping(dtype.ConvOut, w, w, false))
	out = append(out, half(dtype.FFNNorm, dtype.FFNUp, dtype.FFNDown, dtype.FFNPostNorm)...)
	return append(out, norms(dtype.LayerOutNorm, RMS, w))
}
