package family

import "github.com/memwall/memwall/dtype"

// perceiver are the sizes of a Perceiver resampler (arXiv:2204.14198, section 3.1): learned latents attend to patches in a
// few layers, so that an image of any size becomes as many tokens as there are latents.
type perceiver struct {
	width, latents int64
	depth          int
	heads, kv, dim int64
	inner          int64
	norm           NormKind
	gated          bool
}

// weights of the resampler; no matrix has a bias.
func (p perceiver) weights() []Weight {
	out := []Weight{{Role: dtype.ProjectorQuery, Use: MixesIn, In: p.latents, Out: p.width}}
	for range p.depth {
		out = append(out, p.layer()...)
	}
	return append(out, norms(dtype.LatentLast, p.norm, p.width))
}

func (p perceiver) layer() []Weight {
	w := p.width
	out := []Weight{norms(dtype.LatentSource, p.norm, w), norms(dtype.LatentNorm, p.norm, w), mapping(dtype.LatentQ, w, p.heads*p.dim, false),
		mapping(dtype.LatentK, w, p.kv*p.dim, false), mapping(dtype.LatentV, w, p.kv*p.dim, false), mapping(dtype.LatentOut, p.heads*p.dim, w, false),
		norms(dtype.LatentFFNNorm, p.norm, w)}
	if p.gated {
		out = append(out, mapping(dtype.LatentGate, w, p.inner, false))
	}
	return append(out, mapping(dtype.LatentUp, w, p.inner, false), mapping(dtype.LatentDown, p.inner, w, false))
}

// depthOf reads how many layers a resampler has.
func (c *Config) depthOf(def int64, key string) int { return min(c.stack(def, key), 64) }

// xgenMM: BLIP-3 (arXiv:2408.08872; the published class XGenMMModelForConditionalGeneration): SigLIP with its pooling head, a
// resampler whose latents are mapped to the text's width, Phi-3. The tables have a row more for each of three tokens, and the
// head a bias.
var xgenMM = &Family{
	Name: "xgen-mm", Classes: []string{"XGenMMModelForConditionalGeneration"}, Types: []string{"xgenmm"},
	Config: func(c *Config) *Spec {
		const special = 3
		s := c.wrapped("text_config")
		s.Vocab, s.HeadBias = s.Vocab+special, true
		v, k := c.part("vision_encoder_config"), c.part("vision_tokenizer_config")
		v.m["model_name"] = firstValue(v.m["model_name"], "google/siglip-so400m-patch14-384")
		t := v.namedTower("model_name")
		k.defaults(map[string]int64{"vis_feature_dim": 1152, "num_vis_tokens": 128})
		p := perceiver{width: k.Int("vis_feature_dim"), latents: k.Int("num_vis_tokens"), depth: 6, heads: 16, kv: 16, dim: 96, norm: LayerNormBias}
		p.inner = 4 * p.width
		if len(t.Layers) > 0 {
			t.After = append(t.After, poolingHead(t.Width, t.Layers[0].FFN.Inner)...)
		}
		t.After = append(append(t.After, p.weights()...), mapping(dtype.ProjectorIn, p.width, s.Hidden, true))
		t.Tokens, s.Vision = p.latents, t
		return s
	},
}

// idefics2 (arXiv:2405.02246; transformers, models/idefics2): SigLIP, a gated MLP to the text's width, a resampler of
// grouped queries there, Mistral.
var idefics2 = &Family{
	Name: "idefics2", Classes: []string{"Idefics2ForConditionalGeneration"}, Types: []string{"idefics2"},
	Config: func(c *Config) *Spec {
		x := c.part("text_config")
		if !x.Has("model_type") {
			x.m["model_type"] = "mistral"
		}
		s := c.wrapped("text_config")
		v := c.part("vision_config")
		v.defaults(map[string]int64{"patch_size": 32})
		t := v.siglipTower()
		inner := x.Int("intermediate_size")
		t.After = append(t.After, mapping(dtype.FFNGate, t.Width, inner, false), mapping(dtype.ProjectorIn, t.Width, inner, false), mapping(dtype.ProjectorOut, inner, s.Hidden, false))
		k := c.part("perceiver_config")
		w := k.IntOr(s.Hidden, "hidden_size")
		p := perceiver{width: w, latents: k.IntOr(64, "resampler_n_latents"), depth: k.depthOf(3, "resampler_depth"), heads: k.IntOr(16, "resampler_n_heads"), kv: k.IntOr(4, "num_key_value_heads"),
			dim: k.IntOr(96, "resampler_head_dim"), inner: 4 * w, norm: RMS, gated: true}
		t.After = append(t.After, p.weights()...)
		t.Tokens, s.Vision = p.latents, t
		return s
	},
}
