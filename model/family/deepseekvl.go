package family

import (
	"slices"

	"github.com/memwall/memwall/dtype"
)

// deepseekvl2: DeepSeek-VL2 (arXiv:2412.10302): SigLIP with its pooling head, four patches joined, two linear
// maps, learned separators, and a DeepSeek-V2 with or without latent attention.
var deepseekvl2 = &Family{
	Name: "deepseek-vl2", Classes: []string{"DeepseekVLV2ForCausalLM", "DeepseekVLV2ForConditionalGeneration"}, Types: []string{"deepseek_vl_v2"},
	Config: func(c *Config) *Spec {
		l := c.part("language_config")
		s := l.deepseekVLText()
		v, p := c.part("vision_config"), c.part("projector_config")
		v.m["hidden_size"], v.m["num_hidden_layers"] = firstValue(v.m["width"]), firstValue(v.m["layers"])
		v.defaults(map[string]int64{"hidden_size": 1152, "num_hidden_layers": 27, "num_attention_heads": 16, "patch_size": 14, "image_size": 384})
		v.defaults(map[string]int64{"intermediate_size": int64(v.Float(3.7362, "mlp_ratio") * float64(v.Int("hidden_size")))})
		t := v.siglipTower()
		for i := range t.Layers {
			t.Layers[i].Attn.Fused = true
		}
		w := t.Width
		t.After = append(t.After, poolingHead(w, v.Int("intermediate_size"))...)
		if kind := p.Str("projector_type"); kind != "" && kind != "downsample_mlp_gelu" {
			p.lacks("projector_type", kind, "is a projector that is not described", fromFiles)
		}
		mid := p.IntOr(1, "mlp_ratio") * s.Hidden
		t.After = append(t.After, twoLayers(4*w, mid, s.Hidden, true)...)
		t.After = append(t.After, mixesIn(dtype.VisionNewline, s.Hidden), mixesIn(dtype.VisionSeparator, s.Hidden))
		s.Vision = t
		return s
	},
}

// poolingHead of SigLIP: a learned query attends to all patches, then an MLP.
func poolingHead(w, inner int64) []Weight {
	return []Weight{mixesIn(dtype.PoolQuery, w), mapping(dtype.PoolAttn, w, 3*w, true), mapping(dtype.PoolOutput, w, w, true),
		norms(dtype.PoolNorm, LayerNormBias, w), mapping(dtype.PoolUp, w, inner, true), mapping(dtype.PoolDown, inner, w, true)}
}

// deepseekVLText is DeepSeek-V2; small ones attend with plain heads ("use_mla": false).
func (c *Config) deepseekVLText() *Spec {
	c.defaults(map[string]int64{"num_hidden_layers": 30, "vocab_size": 102400})
	if c.Bool(c.Has("kv_lora_rank"), "use_mla") {
		s := deepseek2.Config(c)
		s.Family = deepseek2.Name
		return s
	}
	c.m["kv_lora_rank"], c.m["qk_rope_head_dim"], c.m["qk_nope_head_dim"] = nil, nil, nil
	s := c.base(false)
	s.Family = "deepseek"
	e := MoE{Experts: c.Int("n_routed_experts"), Used: c.Int("num_experts_per_tok"), Inner: c.Int("moe_intermediate_size"), Gated: true}
	e.Shared, e.Norm = e.Inner*c.IntOr(0, "n_shared_experts"), c.Bool(false, "norm_topk_prob")
	a := c.headsWithout("qk_nope_head_dim", "v_head_dim")
	s.Layers = denseFirst(c.Layers(), int(c.IntOr(0, "first_k_dense_replace")), max(1, int(c.IntOr(1, "moe_layer_freq"))), Layer{Norm: RMS, Attn: a}, c.gated(), e)
	return s
}

// headsWithout reads plain heads from a config that also has fields of latent attention.
func (c *Config) headsWithout(keys ...string) Attention {
	for _, k := range keys {
		delete(c.m, k)
	}
	return c.heads()
}

// deepseekOCR: DeepSeek-OCR (arXiv:2510.18234): SAM reads a page, convolutions shrink it, and CLIP, or in the
// second version a Qwen2 with learned queries, reads what is left.
var deepseekOCR = &Family{
	Name: "deepseek-ocr", Classes: []string{"DeepseekOCRForCausalLM", "DeepseekOCR2ForCausalLM"}, Types: []string{"DeepseekOCR"},
	Config: func(c *Config) *Spec {
		s := c.part("language_config").deepseekVLText()
		if n := c.Native(); n != nil {
			s.Native = n
		}
		widths, p := c.part("vision_config").part("width"), c.part("projector_config")
		if clip := widths.Sub("clip-l-14-224"); clip != nil {
			s.Vision = clip.clipOCR()
		} else {
			s.Vision = widths.qwenOCR()
		}
		sam := widths.part("sam_vit_b").samTower()
		if c.Class() == "DeepseekOCR2ForCausalLM" {
			sam.narrowed(s.Vision.Width)
		}
		s.Beside = []*Tower{sam}
		out := p.Int("n_embed")
		s.Vision.After = append(s.Vision.After, mapping(dtype.ProjectorIn, p.Int("input_dim"), out, true), mixesIn(dtype.VisionSeparator, out))
		if c.Class() == "DeepseekOCRForCausalLM" {
			s.Vision.After = append(s.Vision.After, mixesIn(dtype.VisionNewline, out))
		}
		return s
	},
}

// clipOCR is CLIP without its last norm.
func (c *Config) clipOCR() *Tower {
	c.as("hidden_size", "width")
	c.as("num_hidden_layers", "layers")
	c.as("num_attention_heads", "heads")
	c.defaults(map[string]int64{"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "image_size": 224, "patch_size": 14})
	c.defaults(map[string]int64{"intermediate_size": 4 * c.Int("hidden_size")})
	t := c.clipTower()
	t.After = nil
	for i := range t.Layers {
		t.Layers[i].Attn.Fused = true
	}
	return t
}

// qwenOCR is the layers of Qwen2-0.5B (its config.json) over patches and learned queries: one set for a page's
// parts, one for the whole.
func (c *Config) qwenOCR() *Tower {
	w := c.part("qwen2-0-5b").Int("dim")
	const heads, kv, layers, inner, local, global = 14, 2, 24, 4864, 144, 256
	a := seeing(w, heads).bias(true, true, false)
	a.KVHeads = kv
	return &Tower{Width: w, Layers: repeat(Layer{Norm: RMS, Attn: a, FFN: MLP{Inner: inner, Gated: true}}, layers),
		Before: []Weight{{Role: dtype.ProjectorQuery, Use: MixesIn, In: local + global, Out: w}}, After: []Weight{norms(dtype.VisionPostNorm, RMS, w)}}
}

// narrowed ends in the width of what reads the page next, whatever the config says: the class of the second version has
// that number and not the config's last one (deepencoderv2.py).
func (t *Tower) narrowed(width int64) {
	if n := len(t.After); n > 0 {
		t.After[n-1].Out = width
	}
}

// PartPage is the name of the part that reads pages before the vision tower does.
const PartPage = "vision_page"

// samTower is SAM's encoder (arXiv:2304.02643) of 1024 pixels: most layers look into windows of 14 patches, and
// each has tables of relative positions; then convolutions.
func (c *Config) samTower() *Tower {
	w, heads := c.Int("width"), c.Int("heads")
	const patch, side, window, neck = 16, 64, 14, 256
	out := blocks(int(min(c.Int("layers"), maxLayers)), w, 4*w, heads)
	global := c.Ints("global_attn_indexes")
	for i := range out {
		span := int64(window)
		if slices.Contains(global, int64(i)) {
			span = side
		}
		out[i].Attn.Fused, out[i].Attn.RelBias = true, 2*(2*span-1)*out[i].Attn.DimK
	}
	t := &Tower{Name: PartPage, Width: w, Layers: out, Before: []Weight{mapping(dtype.VisionPatch, 3*patch*patch, w, true), table(dtype.VisionPosition, side*side, w)}}
	t.After = []Weight{mapping(dtype.VisionNeck, w, neck, false), norms(dtype.VisionNeckNorm, LayerNormBias, neck),
		mapping(dtype.VisionNeck, 9*neck, neck, false), norms(dtype.VisionNeckNorm, LayerNormBias, neck)}
	in := int64(neck)
	for _, n := range c.Ints("downsample_channels") {
		t.After = append(t.After, mapping(dtype.VisionNeck, 9*in, n, false))
		in = n
	}
	return t
}
