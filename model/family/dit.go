package family

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
)

// PartDenoiser is the name of the part that denoises a latent image or clip: the transformer of a diffusion model. Its text
// encoders and its autoencoder are separate models, each with a config.json.
const PartDenoiser = model.PartDenoiser

// PartSecondDenoiser is a further network that takes over at the later steps.
const PartSecondDenoiser = "second denoiser"

// denoiser is a model of that part alone.
func (c *Config) denoiser(width int64, before, after []Weight, layers ...[]Layer) *Spec {
	for i := range before {
		before[i].Stream = max(before[i].Stream, endStreams[before[i].Role])
	}
	t := &Tower{Name: PartDenoiser, Width: width, Before: before, After: ImageStream.on(after...)}
	for _, l := range layers {
		t.Layers = append(t.Layers, l...)
	}
	return &Spec{Encodes: true, NoHead: true, Hidden: width, Native: c.Native(), Beside: []*Tower{t}}
}

// endStreams are of what brings the picture's patches, or the text, to the stream's width.
var endStreams = map[dtype.Role]Stream{dtype.VisionPatch: ImageStream, dtype.VisionPosition: ImageStream, dtype.ContextIn: TextStream, dtype.ContextMid: TextStream, dtype.ContextNorm: TextStream,
	dtype.ProjectorNorm: TextStream, dtype.ProjectorIn: TextStream, dtype.ProjectorOut: TextStream, dtype.ProjectorPost: TextStream}

// frequencies is the width of the sinusoids that a time step becomes (diffusers, models/embeddings.py).
const frequencies = 256

// timed maps a time step's sinusoids, a guidance strength's, or a pooled text to the width of the stream.
func timed(from, width int64) []Weight {
	return []Weight{steers(dtype.TimeIn, from, width), steers(dtype.TimeOut, width, width)}
}

// flux: FLUX.1 (diffusers, transformer_flux.py): blocks where text and image have weights of their own and attend to each
// other, then blocks for both with attention and MLP side by side.
var flux = &Family{
	Name: "flux", Classes: []string{"FluxTransformer2DModel"},
	Config: func(c *Config) *Spec {
		c.defaults(map[string]int64{"num_attention_heads": 24, "attention_head_dim": 128, "joint_attention_dim": 4096, "pooled_projection_dim": 768, "in_channels": 64})
		h, w := c.across("attention_head_dim")
		in, p := c.Int("in_channels"), c.IntOr(1, "patch_size")
		before := append(timed(frequencies, w), timed(c.Int("pooled_projection_dim"), w)...)
		if c.Bool(false, "guidance_embeds") {
			before = append(before, timed(frequencies, w)...)
		}
		before = append(before, branched(mapping(dtype.ContextIn, c.Int("joint_attention_dim"), w, true)), branched(mapping(dtype.VisionPatch, in, w, true)))
		j := joint{width: w, heads: h, inner: 4 * w, normed: true}
		return c.denoiser(w, before, lastSteered(w, p*p*c.IntOr(in, "out_channels")),
			rows(c.stack(19, "num_layers"), "joint block", j.block(false)...), rows(c.stack(38, "num_single_layers"), "block", j.single()...))
	},
}

// flux2: FLUX.2 (diffusers, transformer_flux2.py): FLUX.1's two kinds of blocks with gated MLPs and no biases; all blocks
// of a kind are steered by the same matrices, and a single block has one matrix for attention and MLP.
var flux2 = &Family{
	Name: "flux2", Classes: []string{"Flux2Transformer2DModel"},
	Config: func(c *Config) *Spec {
		c.defaults(map[string]int64{"num_attention_heads": 48, "attention_head_dim": 128, "joint_attention_dim": 15360, "in_channels": 128,
			"timestep_guidance_channels": frequencies})
		h, w := c.across("attention_head_dim")
		in, p := c.Int("in_channels"), c.IntOr(1, "patch_size")
		before := timed(c.Int("timestep_guidance_channels"), w)
		if c.Bool(true, "guidance_embeds") {
			before = append(before, before...)
		}
		before = append(before, steers(dtype.SteerMix, w, 6*w), steers(dtype.SteerContext, w, 6*w), steers(dtype.SteerMix, w, 3*w),
			branched(mapping(dtype.ContextIn, c.Int("joint_attention_dim"), w, false)), branched(mapping(dtype.VisionPatch, in, w, false)))
		j := joint{width: w, heads: h, inner: c.IntOr(3, "mlp_ratio") * w, normed: true, gated: 1}
		after := lastSteered(w, p*p*c.IntOr(in, "out_channels"))
		for _, ends := range [][]Weight{before, after} {
			for i := range ends {
				ends[i].Bias = false
			}
		}
		return c.denoiser(w, before, after, rows(c.stack(8, "num_layers"), "joint block", withoutBiases(j.block(false))...),
			rows(c.stack(48, "num_single_layers"), "block", withoutBiases(j.single())...))
	},
}

// withoutBiases are weights without biases, and without matrices of their own for the steering.
func withoutBiases(list []Weight) []Weight {
	for i := range list {
		if list[i].Bias = false; list[i].Use == Steers {
			list[i].Use = Steered
		}
	}
	return list
}

// lastSteered scales and shifts by the condition, then maps a token to its patch.
func lastSteered(width, out int64) []Weight {
	return ImageStream.on(steers(dtype.SteerOut, width, 2*width), mapping(dtype.PatchOut, width, out, true))
}

// joint are the sizes of a block of two streams that attend to each other (MMDiT, arXiv:2403.03206).
type joint struct {
	width, heads, inner int64
	normed              bool  // queries and keys are normalised per head
	gated               int64 // 1: the MLP's first matrix holds a gate too
}

// block of both streams. The last one of Stable Diffusion 3 reads the text and leaves it.
func (j joint) block(leavesText bool) []Weight {
	out := ImageStream.on(append([]Weight{steers(dtype.SteerMix, j.width, 6*j.width)}, j.qkv(dtype.AttnQ, dtype.AttnK, dtype.AttnV, dtype.AttnQNorm, dtype.AttnKNorm)...)...)
	chunks := int64(6)
	if leavesText {
		chunks = 2
	}
	out = append(out, TextStream.on(branched(steers(dtype.SteerContext, j.width, chunks*j.width)))...)
	out = append(out, TextStream.on(j.qkv(dtype.ContextQ, dtype.ContextK, dtype.ContextV, dtype.ContextQNorm, dtype.ContextKNorm)...)...)
	out = append(out, attends(j.heads, j.width/j.heads))
	out = append(out, ImageStream.on(append([]Weight{mapping(dtype.AttnOutput, j.width, j.width, true)}, j.mlp(dtype.FFNUp, dtype.FFNDown)...)...)...)
	if !leavesText {
		out = append(out, TextStream.on(append([]Weight{branched(mapping(dtype.ContextOutput, j.width, j.width, true))}, j.mlp(dtype.ContextUp, dtype.ContextDown)...)...)...)
	}
	return out
}

func (j joint) qkv(q, k, v, qn, kn dtype.Role) []Weight {
	out := []Weight{branched(mapping(q, j.width, j.width, true)), branched(mapping(k, j.width, j.width, true)), branched(mapping(v, j.width, j.width, true))}
	if j.normed {
		out = append(out, norms(qn, RMS, j.width/j.heads), norms(kn, RMS, j.width/j.heads))
	}
	return out
}

func (j joint) mlp(up, down dtype.Role) []Weight {
	return []Weight{mapping(up, j.width, j.inner+j.gated*j.inner, true), j.activates(), mapping(down, j.inner, j.width, true)}
}

// activates is GELU, or a gate of what the first matrix gives.
func (j joint) activates() Weight { return Weight{Use: Activates, Out: j.gated * j.inner} }

// single is a block of one stream: attention and MLP leave through one matrix.
func (j joint) single() []Weight {
	out := append([]Weight{steers(dtype.SteerMix, j.width, 3*j.width)}, j.qkv(dtype.AttnQ, dtype.AttnK, dtype.AttnV, dtype.AttnQNorm, dtype.AttnKNorm)...)
	return append(out, attends(j.heads, j.width/j.heads), branched(mapping(dtype.FFNUp, j.width, j.inner+j.gated*j.inner, true)), j.activates(),
		joined(mapping(dtype.FFNDown, j.width+j.inner, j.width, true)))
}

// sd3: Stable Diffusion 3 and 3.5 (arXiv:2403.03206; diffusers, transformer_sd3.py). Fixed positions are stored.
var sd3 = &Family{
	Name: "sd3", Classes: []string{"SD3Transformer2DModel"},
	Config: func(c *Config) *Spec {
		c.defaults(map[string]int64{"num_attention_heads": 18, "attention_head_dim": 64, "joint_attention_dim": 4096, "caption_projection_dim": 1152, "pooled_projection_dim": 2048,
			"in_channels": 16, "patch_size": 2, "pos_embed_max_size": 96})
		h, w := c.across("attention_head_dim")
		if got := c.Int("caption_projection_dim"); got != w {
			c.fail("caption_projection_dim", c.m["caption_projection_dim"], "is not the width of all heads", "correct the config.json")
		}
		in, p, side := c.Int("in_channels"), c.Int("patch_size"), c.Int("pos_embed_max_size")
		before := append(timed(frequencies, w), timed(c.Int("pooled_projection_dim"), w)...)
		before = append(before, branched(mapping(dtype.ContextIn, c.Int("joint_attention_dim"), w, true)), branched(mapping(dtype.VisionPatch, in*p*p, w, true)), storedPositions(side, w))
		j := joint{width: w, heads: h, inner: 4 * w, normed: c.Str("qk_norm") != ""}
		n := c.stack(18, "num_layers")
		twice := map[int64]bool{}
		for _, i := range c.Ints("dual_attention_layers") {
			twice[i] = true
		}
		var layers []Layer
		for i := range n {
			layers = append(layers, sd3Block(j, twice[int64(i)], i == n-1))
		}
		return c.denoiser(w, before, lastSteered(w, p*p*c.IntOr(16, "out_channels")), shared(layers))
	},
}

// sd3Block has, in the first layers of version 3.5, a second attention of the image alone.
func sd3Block(j joint, twice, last bool) Layer {
	b := j.block(last)
	if twice {
		b[0].Out = 9 * j.width
		second := append(j.qkv(dtype.AttnQ, dtype.AttnK, dtype.AttnV, dtype.AttnQNorm, dtype.AttnKNorm), attends(j.heads, j.width/j.heads), mapping(dtype.AttnOutput, j.width, j.width, true))
		b = append(b, ImageStream.on(second...)...)
	}
	return Layer{Row: &Row{Name: "joint block", Weights: b}}
}

// qwenImage: Qwen-Image (arXiv:2508.02324; diffusers, transformer_qwenimage.py): joint blocks alone.
var qwenImage = &Family{
	Name: "qwen-image", Classes: []string{"QwenImageTransformer2DModel"},
	Config: func(c *Config) *Spec {
		c.defaults(map[string]int64{"num_attention_heads": 24, "attention_head_dim": 128, "joint_attention_dim": 3584, "in_channels": 64, "patch_size": 2})
		h, w := c.across("attention_head_dim")
		text, p := c.Int("joint_attention_dim"), c.Int("patch_size")
		before := append(timed(frequencies, w), norms(dtype.ContextNorm, RMS, text), branched(mapping(dtype.ContextIn, text, w, true)), branched(mapping(dtype.VisionPatch, c.Int("in_channels"), w, true)))
		if c.Bool(false, "use_additional_t_cond") {
			before = append(before, table(dtype.SizeEmbed, 2, w))
		}
		j := joint{width: w, heads: h, inner: 4 * w, normed: true}
		return c.denoiser(w, before, lastSteered(w, p*p*c.IntOr(16, "out_channels")), rows(c.stack(60, "num_layers"), "joint block", j.block(false)...))
	},
}

// hunyuanVideo: HunyuanVideo (arXiv:2412.03603; diffusers, transformer_hunyuan_video.py): FLUX's blocks over clips, behind
// blocks that refine the text.
var hunyuanVideo = &Family{
	Name: "hunyuan-video", Classes: []string{"HunyuanVideoTransformer3DModel"},
	Config: func(c *Config) *Spec {
		c.defaults(map[string]int64{"num_attention_heads": 24, "attention_head_dim": 128, "text_embed_dim": 4096, "pooled_projection_dim": 768, "in_channels": 16, "patch_size": 2})
		h, w := c.across("attention_head_dim")
		if got := c.Str("image_condition_type"); got == "token_replace" {
			c.lacks("image_condition_type", got, "is a way of conditioning on an image that is not described", fromFiles)
		}
		text, patch := c.Int("text_embed_dim"), c.Int("patch_size")*c.Int("patch_size")*c.IntOr(1, "patch_size_t")
		inner := int64(c.ratio(4, "mlp_ratio") * float64(w))
		before := append(timed(frequencies, w), timed(c.Int("pooled_projection_dim"), w)...)
		if c.Bool(true, "guidance_embeds") {
			before = append(before, timed(frequencies, w)...)
		}
		before = append(before, branched(mapping(dtype.VisionPatch, patch*c.Int("in_channels"), w, true)))
		before = append(before, timed(frequencies, w)...)
		before = append(before, timed(text, w)...)
		before = append(before, branched(mapping(dtype.ContextIn, text, w, true)))
		j := joint{width: w, heads: h, inner: inner, normed: true}
		return c.denoiser(w, before, lastSteered(w, patch*c.IntOr(16, "out_channels")), rows(c.stack(2, "num_refiner_layers"), "text block", refiner(w, h)...),
			rows(c.stack(20, "num_layers"), "joint block", j.block(false)...), rows(c.stack(40, "num_single_layers"), "block", j.single()...))
	},
}

// refiner is a block of text tokens whose branches the condition gates.
func refiner(w, heads int64) []Weight {
	return TextStream.on(norms(dtype.AttnNorm, LayerNormBias, w), mapping(dtype.AttnQ, w, w, true), mapping(dtype.AttnK, w, w, true), mapping(dtype.AttnV, w, w, true), attends(heads, w/heads),
		mapping(dtype.AttnOutput, w, w, true), norms(dtype.FFNNorm, LayerNormBias, w), mapping(dtype.FFNUp, w, 4*w, true), Weight{Use: Activates}, mapping(dtype.FFNDown, 4*w, w, true), steers(dtype.SteerMix, w, 2*w))
}

// shared lets equal written-out layers be one kind.
func shared(layers []Layer) []Layer {
	for i := 1; i < len(layers); i++ {
		for j := range i {
			if equalRows(layers[i].Row.Weights, layers[j].Row.Weights) {
				layers[i] = layers[j]
				break
			}
		}
	}
	return layers
}

func equalRows(a, b []Weight) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// storedPositions are fixed positions of a square of patches, stored beside the weights and not learned.
func storedPositions(side, width int64) Weight {
	w := table(dtype.VisionPosition, side*side, width)
	w.Fixed = true
	return w
}

// ratio reads how many times wider an MLP is.
func (c *Config) ratio(def float64, key string) float64 {
	r := c.Float(def, key)
	if !(r > 0 && r <= 1<<10) {
		c.fail(key, c.m[key], "is not a width of an MLP", "correct the config.json")
		return 1
	}
	return r
}
