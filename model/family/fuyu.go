package family

import "github.com/memwall/memwall/dtype"

// fuyu: Fuyu-8B: image patches go into the text model through one linear map. The text model is Persimmon:
// layer norms, biases, norms of each head's queries and keys, squared ReLU (transformers,
// models/persimmon/modeling_persimmon.py, models/fuyu/modeling_fuyu.py).
var fuyu = &Family{
	Name: "fuyu", Classes: []string{"FuyuForCausalLM"}, Types: []string{"fuyu"},
	Config: func(c *Config) *Spec {
		s := c.persimmon()
		p := c.IntOr(30, "patch_size")
		s.Vision = &Tower{Width: s.Hidden, Before: []Weight{mapping(dtype.VisionPatch, c.IntOr(3, "num_channels")*p*p, s.Hidden, true)}}
		return s
	},
}

var persimmon = &Family{
	Name: "persimmon", Classes: []string{"PersimmonForCausalLM"}, Types: []string{"persimmon"},
	Config: func(c *Config) *Spec { return c.persimmon() },
}

func (c *Config) persimmon() *Spec {
	s := c.base(false)
	s.Family, s.OutNorm = "persimmon", LayerNormBias
	a := c.heads().bias(true, true, true)
	a.Fused = true
	if c.Bool(true, "qk_layernorm") {
		a.QKNorm = PerHeadBias
	}
	s.Layers = repeat(Layer{Norm: LayerNormBias, Attn: a, FFN: MLP{Inner: c.Int("intermediate_size"), Bias: true, Act: ReLU2}}, c.Layers())
	return s
}

// molmo: Molmo (arXiv:2409.17146): OpenAI's CLIP of 336 pixels without its last layer, attention that pools
// patches by four, a gated projector as wide as the text model's MLP, and a Qwen2-like or OLMo-like text model.
// The encoder's sizes are the defaults of the published class; the config does not give them.
var molmo = &Family{
	Name: "molmo", Classes: []string{"MolmoForCausalLM"}, Types: []string{"molmo"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		s.Vocab, s.ExtraTokens = c.Int("embedding_size", "vocab_size"), 128
		if c.Bool(false, "weight_tying") {
			s.Tied = true
		}
		b := c.Bool(false, "qkv_bias")
		a := c.heads().bias(b, b, false)
		if c.Bool(false, "attention_layer_norm") {
			a.QKNorm = FullWidth
		}
		a.Fused = true
		half := c.Int("intermediate_size") / 2
		l := Layer{Norm: RMS, Attn: a, FFN: MLP{Inner: half, Gated: true, Fused: true}}
		if c.Bool(false, "norm_after") {
			l.Place = PostNorm
		}
		s.Layers = repeat(l, c.Layers())
		s.Vision = molmoTower(s.Hidden, half)
		return s
	},
}

func molmoTower(hidden, half int64) *Tower {
	const w, inner, heads, layers, patches, levels = 1024, 4096, 16, 23, 576, 2
	return &Tower{Width: w, Layers: blocks(layers, w, inner, heads),
		Before: []Weight{mapping(dtype.VisionPatch, 3*14*14, w, false), mixesIn(dtype.VisionClass, w), table(dtype.VisionPosition, patches+1, w), norms(dtype.VisionPreNorm, LayerNormBias, w)},
		After: []Weight{{Role: dtype.VisionSeparator, Use: MixesIn, In: 2, Out: levels * w}, mapping(dtype.ProjectorAttn, levels*w, 3*w, true), mapping(dtype.ProjectorMid, w, w, true),
			mapping(dtype.ProjectorIn, w, 2*half, false), mapping(dtype.ProjectorOut, half, hidden, false)}}
}

// molmo2: Molmo 2 (arXiv:2601.10611; transformers, models/molmo2): SigLIP 2 as far as the last layer that is read, attention that
// pools the outputs of two layers, a gated projector, and a Qwen3-like or OLMo-like text model.
var molmo2 = &Family{
	Name: "molmo2", Classes: []string{"Molmo2ForConditionalGeneration"}, Types: []string{"molmo2"},
	Config: func(c *Config) *Spec {
		x := c.part("text_config")
		s := x.base(false)
		s.ExtraTokens = x.IntOr(128, "additional_vocab_size")
		b := x.Bool(false, "qkv_bias")
		a := x.heads().bias(b, b, false)
		a.Fused = true
		if x.Bool(true, "use_qk_norm") {
			a.QKNorm = map[bool]QKNorm{true: FullWidth, false: PerHead}[x.Str("qk_norm_type") == "olmo"]
		}
		l := Layer{Norm: RMS, Attn: a, FFN: x.gated()}
		l.FFN.Fused = true
		if x.Bool(false, "norm_after") {
			l.Place = PostNorm
		}
		s.Layers = repeat(l, x.Layers())
		s.Vision = c.molmo2Tower(s.Hidden)
		return c.outerTie(s)
	},
}

func (c *Config) molmo2Tower(hidden int64) *Tower {
	v, k := c.sub("vit_config"), c.sub("adapter_config")
	v.defaults(with(so400m, map[string]int64{"image_patch_size": 14, "image_num_pos": 729}))
	k.defaults(map[string]int64{"hidden_size": 1152, "intermediate_size": 18944})
	const levels = 2 // layers whose outputs are pooled together, the last of them the third from the end
	p, w, inner := v.Int("image_patch_size"), k.Int("hidden_size"), k.Int("intermediate_size")
	t := v.siglipOf(3*p*p, v.Int("image_num_pos"))
	t.Layers = t.Layers[:max(0, len(t.Layers)-2)]
	in := levels * t.Width
	t.After = []Weight{mapping(dtype.ProjectorQuery, in, w, true), branched(mapping(dtype.ProjectorKV, in, 2*w, true)),
		branched(mapping(dtype.ProjectorAttn, w, w, true)), mapping(dtype.ProjectorIn, w, 2*inner, false), mapping(dtype.ProjectorOut, inner, hidden, false)}
	return t
}
