package family

import (
	"slices"

	"github.com/memwall/memwall/dtype"
)

// Diffusion transformers that read the text by cross-attention, and those of one stream.

// pixart: PixArt-alpha and PixArt-Sigma (arXiv:2310.00426; diffusers, pixart_transformer_2d.py): one table of shifts in each
// block beside one matrix for all. Fixed positions are not stored.
var pixart = &Family{
	Name: "pixart", Classes: []string{"PixArtTransformer2DModel"},
	Config: func(c *Config) *Spec {
		c.defaults(map[string]int64{"num_attention_heads": 16, "attention_head_dim": 72, "in_channels": 4, "cross_attention_dim": 1152, "patch_size": 2, "sample_size": 128})
		h, w := c.across("attention_head_dim")
		in, p, b := c.Int("in_channels"), c.Int("patch_size"), c.Bool(true, "attention_bias")
		before := append([]Weight{mapping(dtype.VisionPatch, in*p*p, w, true)}, timed(frequencies, w)...)
		if c.Bool(c.Int("sample_size") == 128, "use_additional_conditions") {
			before = append(before, timed(frequencies, w/3)...)
			before = append(before, timed(frequencies, w/3)...)
		}
		before = append(before, steers(dtype.SteerMix, w, 6*w))
		if text := c.IntOr(0, "caption_channels"); text > 0 {
			before = append(before, branched(mapping(dtype.ContextIn, text, w, true)), mapping(dtype.ContextMid, w, w, true))
		}
		after := []Weight{mixesIn(dtype.SteerTable, 2*w), mapping(dtype.PatchOut, w, p*p*c.IntOr(8, "out_channels"), true)}
		block := crossed{width: w, heads: h, text: c.Int("cross_attention_dim"), inner: 4 * w, bias: b}
		return c.denoiser(w, before, after, rows(c.stack(28, "num_layers"), "cross block", block.weights()...))
	},
}

// crossed are the sizes of a block with attention to itself and to the text.
type crossed struct {
	width, heads, text, inner int64
	bias                      bool // of queries, keys and values
	normed                    bool // queries and keys are normalised over all heads
	midNorm                   bool // a layer norm before the attention to the text
}

func (x crossed) weights() []Weight {
	w := x.width
	out := append([]Weight{mixesIn(dtype.SteerTable, 6*w)}, x.attention(w, false, dtype.AttnQ, dtype.AttnK, dtype.AttnV, dtype.AttnQNorm, dtype.AttnKNorm, dtype.AttnOutput)...)
	if x.midNorm {
		out = append(out, norms(dtype.CrossNorm, LayerNormBias, w))
	}
	out = append(out, x.attention(x.text, true, dtype.CrossQ, dtype.CrossK, dtype.CrossV, dtype.CrossQNorm, dtype.CrossKNorm, dtype.CrossOutput)...)
	return ImageStream.on(append(out, mapping(dtype.FFNUp, w, x.inner, true), mapping(dtype.FFNDown, x.inner, w, true))...)
}

// attention of the picture to itself, or to the text, whose tokens alone make its keys and values.
func (x crossed) attention(from int64, text bool, q, k, v, qn, kn, o dtype.Role) []Weight {
	w := x.width
	out := []Weight{branched(mapping(q, w, w, x.bias)), branched(mapping(k, from, w, x.bias)), branched(mapping(v, from, w, x.bias))}
	if text {
		TextStream.on(out[1:]...)
	}
	if x.normed {
		out = append(out, norms(qn, RMS, w), norms(kn, RMS, w))
	}
	to := attends(x.heads, w/x.heads)
	to.Text = text
	return append(out, to, mapping(o, w, w, true))
}

// wan: Wan 2.1 and 2.2 (arXiv:2503.20314; diffusers, transformer_wan.py). Versions that start from an image read it by
// further keys and values. Those of 2.2 with A in their size have a second network of the same shape for the later steps
// (diffusers, pipeline_wan.py, transformer_2).
var wan = &Family{
	Name: "wan", Classes: []string{"WanTransformer3DModel"},
	Config: func(c *Config) *Spec {
		c.defaults(map[string]int64{"num_attention_heads": 40, "attention_head_dim": 128, "in_channels": 16, "text_dim": 4096, "freq_dim": frequencies, "ffn_dim": 13824})
		h, w := c.across("attention_head_dim")
		patch := int64(1)
		for _, n := range c.patch3(1, 2, 2) {
			patch *= n
		}
		before := append([]Weight{mapping(dtype.VisionPatch, patch*c.Int("in_channels"), w, true)}, timed(c.Int("freq_dim"), w)...)
		before = append(before, steers(dtype.SteerMix, w, 6*w), branched(mapping(dtype.ContextIn, c.Int("text_dim"), w, true)), mapping(dtype.ContextMid, w, w, true))
		block := crossed{width: w, heads: h, text: w, inner: c.Int("ffn_dim"), bias: true, normed: true, midNorm: c.Bool(true, "cross_attn_norm")}.weights()
		if d := c.IntOr(0, "image_dim"); d > 0 {
			before = append(before, branched(norms(dtype.ProjectorNorm, LayerNormBias, d)), mapping(dtype.ProjectorIn, d, d, true), mapping(dtype.ProjectorOut, d, w, true), norms(dtype.ProjectorPost, LayerNormBias, w))
			if n := c.IntOr(0, "pos_embed_seq_len"); n > 0 {
				before = append(before, Weight{Role: dtype.ProjectorPosition, Use: MixesIn, In: n, Out: d})
			}
		}
		if d := c.IntOr(0, "added_kv_proj_dim"); d > 0 {
			block = append(block, TextStream.on(branched(mapping(dtype.ImageK, d, w, true)), branched(mapping(dtype.ImageV, d, w, true)), norms(dtype.ImageKNorm, RMS, w))...)
		}
		after := []Weight{mixesIn(dtype.SteerTable, 2*w), mapping(dtype.PatchOut, w, patch*c.IntOr(16, "out_channels"), true)}
		s := c.denoiser(w, before, after, rows(c.stack(40, "num_layers"), "cross block", block...))
		if c.Has("transformer_2") {
			second := *s.Beside[0]
			second.Name = PartSecondDenoiser
			s.Beside = append(s.Beside, &second)
		}
		return s
	},
}

// patch3 reads frames, height and width of a patch.
func (c *Config) patch3(def ...int64) []int64 {
	p := c.Ints("patch_size")
	if len(p) == 0 {
		return def
	}
	for _, n := range p {
		if len(p) != 3 || n < 1 || n > maxPixels {
			c.fail("patch_size", c.m["patch_size"], "is not three sizes of a patch", "correct the config.json")
			return def
		}
	}
	return p
}

// zImage: Z-Image (arXiv:2511.22699; diffusers, transformer_z_image.py): one stream of text and image, blocks between norms
// on both sides with a gated MLP, behind blocks that refine either.
var zImage = &Family{
	Name: "z-image", Classes: []string{"ZImageTransformer2DModel"},
	Config: func(c *Config) *Spec {
		c.defaults(map[string]int64{"dim": 3840, "n_heads": 30, "n_kv_heads": 30, "in_channels": 16, "cap_feat_dim": 2560})
		w, h := c.Int("dim"), c.Int("n_heads")
		if w%h != 0 || c.Int("n_kv_heads") != h {
			c.lacks("n_heads", c.m["n_heads"], "do not divide dim, or share keys and values, which is not described", fromFiles)
			h = 1
		}
		if c.Has("siglip_feat_dim") {
			c.lacks("siglip_feat_dim", c.m["siglip_feat_dim"], "is of an encoder of images that is not described", fromFiles)
		}
		const condition, mid = 256, 1024
		patch := int64(1)
		for key, def := range map[string]int64{"all_patch_size": 2, "all_f_patch_size": 1} {
			sizes := c.Ints(key)
			if len(sizes) > 1 {
				c.lacks(key, c.m[key], "gives several sizes of patches, which are not described", fromFiles)
			}
			if len(sizes) == 1 {
				def = min(sizes[0], maxPixels)
			}
			if def < 1 {
				c.fail(key, c.m[key], "must be at least 1", "correct the config.json")
				def = 1
			}
			patch *= def * def
			if key == "all_f_patch_size" {
				patch /= def
			}
		}
		cond, text := min(w, condition), c.Int("cap_feat_dim")
		before := []Weight{mapping(dtype.VisionPatch, patch*c.Int("in_channels"), w, true), steers(dtype.TimeIn, frequencies, mid), steers(dtype.TimeOut, mid, cond),
			branched(norms(dtype.ContextNorm, RMS, text)), mapping(dtype.ContextIn, text, w, true), mixesIn(dtype.VisionMask, w), mixesIn(dtype.VisionMask, w)}
		after := []Weight{mapping(dtype.PatchOut, w, patch*c.Int("in_channels"), true), steers(dtype.SteerOut, cond, w)}
		n := c.stack(2, "n_refiner_layers")
		plain, steered := zBlock(w, h), append(zBlock(w, h), steers(dtype.SteerMix, cond, 4*w))
		return c.denoiser(w, before, after, rows(n, "image block", ImageStream.on(slices.Clone(steered)...)...), rows(n, "text block", TextStream.on(plain...)...), rows(c.stack(30, "n_layers"), "block", steered...))
	},
}

func zBlock(w, heads int64) []Weight {
	inner, d := w*8/3, w/heads
	return []Weight{norms(dtype.AttnNorm, RMS, w), mapping(dtype.AttnQ, w, w, false), mapping(dtype.AttnK, w, w, false), mapping(dtype.AttnV, w, w, false), norms(dtype.AttnQNorm, RMS, d), norms(dtype.AttnKNorm, RMS, d),
		attends(heads, d), mapping(dtype.AttnOutput, w, w, false), norms(dtype.AttnPostNorm, RMS, w), norms(dtype.FFNNorm, RMS, w), mapping(dtype.FFNGate, w, inner, false), branched(mapping(dtype.FFNUp, w, inner, false)),
		mapping(dtype.FFNDown, inner, w, false), norms(dtype.FFNPostNorm, RMS, w)}
}
