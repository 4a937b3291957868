package family

import "github.com/memwall/memwall/dtype"

// Flamingos (arXiv:2204.14198): layers of gated attention to an image stand between the layers of a text model.

// crossing puts a layer before each of those that at names.
func crossing(layers []Layer, cross Layer, at func(i int) bool) []Layer {
	var out []Layer
	for i, l := range layers {
		if at(i) {
			out = append(out, cross)
		}
		out = append(out, l)
	}
	return out
}

// idefics1: IDEFICS (arXiv:2306.16527; transformers, models/idefics): CLIP, a resampler, Llama. Its tables have rows of their
// own for further tokens.
var idefics1 = &Family{
	Name: "idefics", Classes: []string{"IdeficsForVisionText2Text"}, Types: []string{"idefics"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		s.Vocab += c.IntOr(0, "additional_vocab_size")
		a, mlp := c.heads(), c.gated()
		v := c.part("vision_config")
		v.as("hidden_size", "embed_dim", "hidden_size")
		v.defaults(map[string]int64{"hidden_size": 768, "image_size": 224, "intermediate_size": 5120, "patch_size": 14, "num_hidden_layers": 32, "num_attention_heads": 16})
		t := v.clipTower()
		cross := Layer{Norm: RMS, Cross: a, FFN: mlp, Gates: true}
		cross.Cross.Encoder = t.Width
		if c.Bool(false, "qk_layer_norms") {
			cross.Cross.QKNorm = PerHead
		}
		if kind := c.Str("alpha_type"); kind != "" && kind != "float" {
			cross.GateWidth = s.Hidden
		}
		c.ideficsResampler(t, &cross)
		every := int(max(1, c.IntOr(1, "cross_layer_interval")))
		n := c.Layers()
		s.Layers = crossing(repeat(Layer{Norm: RMS, Attn: a, FFN: mlp}, n), cross, func(i int) bool { return i%every == 0 && i/every < n/every })
		s.Vision = t
		return s
	},
}

// ideficsResampler stands behind the encoder where the config says so; else every patch is attended to.
func (c *Config) ideficsResampler(t *Tower, cross *Layer) {
	if !c.Bool(false, "use_resampler") {
		return
	}
	k := c.part("perceiver_config")
	p := perceiver{width: t.Width, latents: k.IntOr(64, "resampler_n_latents"), depth: k.depthOf(6, "resampler_depth"), heads: k.IntOr(16, "resampler_n_heads"), dim: k.IntOr(96, "resampler_head_dim"),
		inner: 4 * t.Width, norm: LayerNormBias}
	p.kv = p.heads
	if k.Bool(false, "qk_layer_norms_perceiver") {
		for range p.depth {
			t.After = append(t.After, norms(dtype.LatentNorm, LayerNormBias, p.dim), norms(dtype.LatentSource, LayerNormBias, p.dim))
		}
	}
	t.After = append(t.After, p.weights()...)
	t.Tokens, cross.Cross.Source = p.latents, p.latents
}

// infiMM: EVA-CLIP, a resampler, and gated attention before every few layers of Mistral (the published class
// InfiMMZephyrModel).
var infiMM = &Family{
	Name: "infimm", Classes: []string{"InfiMMZephyrModel"}, Types: []string{"infimm-zephyr"},
	Config: func(c *Config) *Spec {
		s := c.wrapped("language")
		t := c.part("visual").evaTower()
		p := perceiver{width: t.Width, latents: 64, depth: 6, heads: 8, kv: 8, dim: 64, inner: 4 * t.Width, norm: LayerNormBias}
		t.After = append(t.After, p.weights()...)
		t.Tokens, s.Vision = p.latents, t
		cross := Layer{Norm: LayerNormBias, FFN: MLP{Inner: 4 * s.Hidden, Act: GELU}, Gates: true,
			Cross: Attention{Heads: 8, KVHeads: 8, DimK: 64, DimV: 64, Encoder: t.Width, Source: p.latents}}
		every := int(max(1, c.IntOr(1, "cross_attn_every_n_layers")))
		s.Layers = crossing(s.Layers, cross, func(i int) bool { return (i+1)%every == 0 })
		return s
	},
}

// evaTower is EVA-02's (arXiv:2303.11331): rotary positions beside learned ones, gated MLPs, norms within the branches, and
// keys without a bias.
func (c *Config) evaTower() *Tower {
	w, p := c.Int("width"), c.Int("patch_size")
	side, h := c.Int("image_size")/p, c.Int("head_width")
	if !c.Bool(false, "subln") || !c.Bool(false, "naiveswiglu") {
		c.lacks("subln", c.m["subln"], "is of an EVA encoder whose layers are not described; those with sub-layer norms and gated MLPs are", fromFiles)
	}
	inner := int64(c.ratio(4, "mlp_ratio") * float64(w))
	block := []Weight{norms(dtype.AttnNorm, LayerNormBias, w), mapping(dtype.AttnQ, w, w, true), mapping(dtype.AttnK, w, w, false), mapping(dtype.AttnV, w, w, true), attends(max(1, w/h), h),
		norms(dtype.AttnSubNorm, LayerNormBias, w), mapping(dtype.AttnOutput, w, w, true), norms(dtype.FFNNorm, LayerNormBias, w),
		mapping(dtype.FFNGate, w, inner, true), mapping(dtype.FFNUp, w, inner, true), norms(dtype.FFNSubNorm, LayerNormBias, inner), mapping(dtype.FFNDown, inner, w, true)}
	return &Tower{Width: w, Layers: rows(c.stack(12, "layers"), "EVA block", block...),
		Before: []Weight{mapping(dtype.VisionPatch, 3*p*p, w, true), mixesIn(dtype.VisionClass, w), mixesIn(dtype.VisionPosition, (side*side+1)*w)},
		After:  []Weight{norms(dtype.VisionPostNorm, LayerNormBias, w), mapping(dtype.EncoderHead, w, c.Int("embed_dim"), true)}}
}
