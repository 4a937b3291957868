package family

import (
	"encoding/json"

	"github.com/memwall/memwall/dtype"
)

// minicpmv: MiniCPM-V (arXiv:2408.01800): SigLIP, a resampler that asks the patches a fixed number of
// questions, and MiniCPM or, from version 2.5, Llama 3 or Qwen2. The published class is MiniCPMV.
var minicpmv = &Family{
	Name: "minicpmv", Classes: []string{"MiniCPMV"}, Types: []string{"minicpmv"},
	Config: func(c *Config) *Spec {
		if c.Has("vision_config") {
			return c.minicpmvLater()
		}
		s := c.minicpm()
		t := c.minicpmvTimm()
		t.After = append(t.After, resampler(c.Int("query_num"), s.Hidden, t.Width, true)...)
		t.Tokens = c.Int("query_num")
		s.Vision = t
		return s
	},
}

// minicpm is llama with constant scales (arXiv:2404.06395).
func (c *Config) minicpm() *Spec {
	s := c.base(true)
	s.EmbedScale, s.HeadInput = true, true
	s.Layers = repeat(Layer{Norm: RMS, Attn: c.heads(), FFN: c.gated(), ResidualScale: true}, c.Layers())
	s.Family = "minicpm"
	return s
}

// minicpmvTimm is the encoder of the first versions, known by its name in timm: SigLIP so400m at 384 pixels.
func (c *Config) minicpmvTimm() *Tower {
	const name = "vit_so400m_patch14_siglip_384.webli"
	if got := c.Str("vision_encoder"); got != name {
		c.lacks("vision_encoder", got, "names an encoder whose sizes the config does not give", fromFiles)
	}
	c.m["vision_name"] = "google/siglip-so400m-patch14-384"
	t := c.namedTower("vision_name")
	if c.Bool(false, "drop_vision_last_layer") && len(t.Layers) > 0 {
		t.Layers = t.Layers[1:]
	}
	for i := range t.Layers {
		t.Layers[i].Attn.Fused = true
	}
	return t
}

// minicpmvTexts are the text models of the versions that say their encoder's sizes (modeling_minicpmv.py of each).
var minicpmvTexts = map[string]*Family{"2.6": qwen2, "4.5": qwen3}

// minicpmvLater is a version from 2.6 on.
func (c *Config) minicpmvLater() *Spec {
	version, _ := c.m["version"].(json.Number)
	text := minicpmvTexts[version.String()]
	if text == nil {
		c.lacks("version", c.m["version"], "is a version of MiniCPM-V that is not described; 1, 2, 2.6 and 4.5 are", fromFiles)
		text = qwen2
	}
	s := text.Config(c)
	s.Family = text.Name
	v := c.part("vision_config")
	t := v.siglipTower()
	if c.Bool(false, "drop_vision_last_layer") && len(t.Layers) > 0 {
		t.Layers = t.Layers[1:]
	}
	t.After = append(t.After, resampler(c.Int("query_num"), s.Hidden, t.Width, false)...)
	s.Vision = t
	if c.Bool(false, "use_gene_module") {
		s.Beside = []*Tower{c.genes(s.Hidden)}
	}
	return s
}

// resampler is one layer of cross-attention from learned queries to patches (arXiv:2308.12966, section 2.1): a
// map of the patches to the queries' width, the four matrices with biases, three norms, a last map. stored says
// whether its fixed positions are stored.
func resampler(queries, width, from int64, stored bool) []Weight {
	out := []Weight{{Role: dtype.ProjectorQuery, Use: MixesIn, In: queries, Out: width}}
	if stored {
		out = append(out, Weight{Role: dtype.ProjectorPosition, Use: MixesIn, In: queries, Out: width})
	}
	if from != width {
		out = append(out, mapping(dtype.ProjectorKV, from, width, false))
	}
	return append(out, norms(dtype.ProjectorNorm, LayerNormBias, width), norms(dtype.ProjectorKNorm, LayerNormBias, width),
		mapping(dtype.ProjectorAttn, width, 3*width, true), mapping(dtype.ProjectorMid, width, width, true),
		norms(dtype.ProjectorPost, LayerNormBias, width), mapping(dtype.ProjectorOut, width, width, false))
}

// qwenVL reads the tower of the first Qwen-VL (arXiv:2308.12966; Qwen/Qwen-VL, visual.py): OpenCLIP's ViT-bigG with
// positions for 256 patches, and a resampler with 256 queries whose fixed positions are stored.
func (c *Config) qwenVL(hidden int64) *Tower {
	const positions, queries = 256, 256
	w, p := c.Int("width"), c.Int("patch_size")
	inner := int64(c.Float(4, "mlp_ratio") * float64(w))
	t := &Tower{Width: w, Layers: fusedBlocks(int(min(c.Int("layers"), maxLayers)), w, inner, c.Int("heads")), Tokens: queries,
		Before: []Weight{mapping(dtype.VisionPatch, 3*p*p, w, false), table(dtype.VisionPosition, positions, w), norms(dtype.VisionPreNorm, LayerNormBias, w)}}
	if out := c.Int("output_dim"); out != hidden {
		c.fail("output_dim", c.m["output_dim"], "is not the text model's hidden_size", "correct the config.json")
	}
	last := resampler(queries, hidden, w, true)
	last[len(last)-2], last[len(last)-1] = norms(dtype.ProjectorPost, LayerNormBias, hidden), mapping(dtype.ProjectorOut, hidden, hidden, false)
	t.After = last
	return t
}
