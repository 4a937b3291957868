package family

import (
	"encoding/json"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
)

// gemma: tied and scaled embedding, GELU, wide heads.
var gemma = &Family{
	Name: "gemma", Classes: []string{"GemmaForCausalLM"}, Types: []string{"gemma"},
	Config: func(c *Config) *Spec {
		s := c.base(true)
		s.EmbedScale = true
		l := Layer{Norm: RMS, Attn: c.heads(), FFN: c.gated()}
		l.FFN.Act, l.Attn.Scale = GELU, true
		s.Layers = repeat(l, c.Layers())
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		s.EmbedScale = true
		n := m.Layers()
		l := Layer{Norm: RMS, Attn: m.heads(n)[0], FFN: m.gated()}
		l.FFN.Act, l.Attn.Scale = GELU, true
		s.Layers = repeat(l, n)
		return s
	},
}

// gemma2: norms before and after each branch, every other layer sliding, soft caps.
var gemma2 = &Family{
	Name: "gemma2", Classes: []string{"Gemma2ForCausalLM"}, Types: []string{"gemma2"},
	Config: func(c *Config) *Spec { return c.gemma23(c.sliding(c.Layers(), 2), true) },
	Header: func(m *Meta) *Spec { return m.gemma23(m.windows(m.Layers(), 2), true) },
}

// gemma3: five sliding layers to one full; normalised queries and keys; no soft caps.
var gemma3 = &Family{
	Name: "gemma3", Classes: []string{"Gemma3ForCausalLM", "Gemma3ForConditionalGeneration"}, Types: []string{"gemma3", "gemma3_text"},
	Config: func(c *Config) *Spec {
		t := c.Text()
		t.defaults(gemma3Defaults)
		s := c.outerTie(t.gemma23(t.sliding(t.Layers(), 6), false))
		s.Vision = c.siglip(s.Hidden)
		return s
	},
	Header: func(m *Meta) *Spec { return m.gemma23(m.windows(m.Layers(), 6), false) },
}

// gemma3Defaults are those of Gemma3TextConfig (transformers 4.50), which published configs leave out.
var gemma3Defaults = map[string]int64{
	"vocab_size": 262208, "hidden_size": 2304, "intermediate_size": 9216, "num_hidden_layers": 26,
	"num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256, "max_position_embeddings": 131072, "sliding_window": 4096,
}

func (c *Config) gemma23(slides []bool, caps bool) *Spec {
	s := c.base(true)
	s.EmbedScale = true
	s.HeadCap = caps && c.Float(30, "final_logit_softcapping") > 0
	if !caps {
		s.Source.Rotary = append(s.Source.Rotary, c.slidingRotary()...)
	}
	a := c.heads()
	s.Layers = gemmaLayers(a, c.gated(), c.IntOr(0, "sliding_window"), slides, caps)
	return s
}

// slidingRotary is the table of sliding layers, which rotate with a base of their own and unscaled.
func (c *Config) slidingRotary() []model.Rotary {
	return []model.Rotary{{Positions: c.IntOr(0, "max_position_embeddings"), Dim: c.IntOr(0, "head_dim")}}
}

func (m *Meta) gemma23(slides []bool, caps bool) *Spec {
	s := m.base()
	s.EmbedScale, s.HeadCap = true, caps
	s.Layers = gemmaLayers(m.heads(len(slides))[0], m.gated(), m.IntOr(0, "attention.sliding_window"), slides, caps)
	return s
}

func gemmaLayers(a Attention, f MLP, window int64, slides []bool, caps bool) []Layer {
	f.Act = GELU
	a.Scale, a.Cap = true, caps
	if !caps {
		a.QKNorm = PerHead
	}
	out := repeat(Layer{Norm: RMS, Place: Sandwich, Attn: a, FFN: f}, len(slides))
	for i := range out {
		if slides[i] {
			out[i].Attn.Window = window
		}
	}
	return out
}

// gemma3n: parallel residual streams, augmented residuals, per-layer embeddings; the last layers use the
// keys and values of earlier ones.
var gemma3n = &Family{
	Name: "gemma3n", Classes: []string{"Gemma3nForCausalLM", "Gemma3nForConditionalGeneration"}, Types: []string{"gemma3n", "gemma3n_text"},
	Config: func(c *Config) *Spec {
		t := c.Text()
		s := t.base(true)
		n := t.Layers()
		f := MLP{Inner: 1, Gated: true, Act: GELU}
		if sizes := t.Ints("intermediate_size"); len(sizes) > 0 {
			f.Inner = sizes[0]
		}
		s.PLEVocab = t.IntOr(262144, "vocab_size_per_layer_input")
		gemma3nSpec(s, n, t.heads(), f, t.IntOr(512, "sliding_window"), t.sliding(n, 5),
			gemma3nDims{t.IntOr(4, "altup_num_inputs"), t.IntOr(64, "laurel_rank"), t.IntOr(256, "hidden_size_per_layer_input"), t.IntOr(15, "num_kv_shared_layers")}, t.sparse(n))
		c.gemma3nTowers(s)
		return c.outerTie(s)
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		f := m.gated()
		f.Act = GELU
		s.PLEVocab = m.Rows("per_layer_token_embd.weight")
		gemma3nSpec(s, n, m.heads(n)[0], f, m.IntOr(512, "attention.sliding_window"), m.windows(n, 5),
			gemma3nDims{m.IntOr(4, "altup.num_inputs"), m.Rows("blk.0.laurel_l.weight"), m.IntOr(256, "embedding_length_per_layer_input"), m.IntOr(0, "attention.shared_kv_layers")}, gemma3nSparse(n))
		return s
	},
}

// sparse tells the layers whose gates are sparse: those with a target sparsity in the config.
func (c *Config) sparse(layers int) []bool {
	const key = "activation_sparsity_pattern"
	if !c.Has(key) {
		return gemma3nSparse(layers)
	}
	out := make([]bool, layers)
	rates := list(c, key, func(v any) (float64, bool) {
		num, ok := v.(json.Number)
		x, err := num.Float64()
		return x, ok && err == nil
	})
	for i := range min(layers, len(rates)) {
		out[i] = rates[i] > 0
	}
	return out
}

// gemma3nSparse: the first ten layers of the published models (Gemma3nTextConfig, transformers 4.53); a
// GGUF file does not say.
func gemma3nSparse(layers int) []bool {
	out := make([]bool, layers)
	for i := range min(layers, 10) {
		out[i] = true
	}
	return out
}

type gemma3nDims struct{ altUp, laurel, perLayer, shared int64 }

func gemma3nSpec(s *Spec, n int, a Attention, f MLP, window int64, slides []bool, d gemma3nDims, sparse []bool) {
	s.EmbedScale, s.HeadCap = true, true
	s.AltUp, s.PLE = d.altUp, d.perLayer
	a.QKNorm, a.VNorm = PerHead, true
	s.Layers = repeat(Layer{Norm: RMS, Place: Sandwich, Attn: a, FFN: f, AltUp: d.altUp, Laurel: d.laurel, PLE: d.perLayer}, n)
	for i := range s.Layers {
		l := &s.Layers[i]
		l.FFN.Sparse = sparse[i]
		if slides[i] {
			l.Attn.Window = window
		}
		if int64(i) >= int64(n)-d.shared {
			l.Attn.SharesKV, l.Attn.OwnKV = true, true
		}
	}
}

// gemma4: sliding and full layers differ in heads and widths; full layers may use keys as values; a
// dense FFN runs beside the experts.
var gemma4 = &Family{
	Name: "gemma4", Classes: []string{"Gemma4ForCausalLM", "Gemma4ForConditionalGeneration"}, Types: []string{"gemma4", "gemma4_text"},
	Config: func(c *Config) *Spec {
		s := gemma4Text(c.Text())
		s.Vision = c.gemma4Vision(s.Hidden)
		if a := c.Sub("audio_config"); a != nil {
			a.defaults(map[string]int64{"output_proj_dims": 1536})
			audio := a.gemmaAudio()
			audio.After = append(audio.After, mapping(dtype.ProjectorIn, a.Int("output_proj_dims"), s.Hidden, false))
			s.Beside = []*Tower{audio}
		}
		return c.outerTie(s)
	},
	Header: gemma4Header,
}

// gemma4Unified: Gemma 4 12B: the same decoder without encoders: patches and frames of sound are mapped to its width as they are
// (transformers, models/gemma4_unified).
var gemma4Unified = &Family{
	Name: "gemma4-unified", Classes: []string{"Gemma4UnifiedForConditionalGeneration"}, Types: []string{"gemma4_unified"},
	Config: func(c *Config) *Spec {
		s := gemma4Text(c.Text())
		s.Family = "gemma4"
		if v := c.Sub("vision_config"); v != nil {
			side := v.IntOr(16, "patch_size") * v.IntOr(3, "pooling_kernel_size")
			w := v.IntOr(3840, "mm_embed_dim")
			s.Vision = &Tower{Width: w, Before: []Weight{norms(dtype.VisionPreNorm, LayerNormBias, 3*side*side), mapping(dtype.VisionPatch, 3*side*side, w, true),
				norms(dtype.VisionPostNorm, LayerNormBias, w), table(dtype.VisionPosition, 2*v.IntOr(1120, "mm_posemb_size"), w)},
				After: []Weight{mapping(dtype.ProjectorIn, w, s.Hidden, false)}}
		}
		if a := c.Sub("audio_config"); a != nil {
			w := a.IntOr(640, "audio_embed_dim")
			s.Beside = []*Tower{{Name: PartAudio, Width: w, After: []Weight{mapping(dtype.ProjectorIn, w, s.Hidden, false)}}}
		}
		return c.outerTie(s)
	},
}

// gemma4Text is the decoder of a text_config.
func gemma4Text(t *Config) *Spec {
	s := t.base(true)
	n := t.Layers()
	sw := t.heads()
	full := sw
	full.DimK = t.IntOr(sw.DimK, "global_head_dim")
	full.DimV = full.DimK
	full.KVHeads = t.IntOr(sw.KVHeads, "num_global_key_value_heads")
	full.KEqV = t.Bool(false, "attention_k_eq_v")
	sw.Window = t.IntOr(1024, "sliding_window")
	moe := MoE{}
	if t.Bool(false, "enable_moe_block") {
		moe = MoE{Experts: t.Int("num_experts"), Used: t.Int("top_k_experts"), Inner: t.Int("moe_intermediate_size", "expert_intermediate_size")}
	}
	s.PLE, s.PLEVocab = t.IntOr(0, "hidden_size_per_layer_input"), t.IntOr(0, "vocab_size_per_layer_input")
	slides, shared := t.sliding(n, 6), t.IntOr(0, "num_kv_shared_layers")
	gemma4Spec(s, sw, full, t.gated(), moe, slides, shared)
	s.Source.Rotary = append(s.Source.Rotary, model.Rotary{Positions: s.Context, Dim: full.DimK}) // full layers have a table of their own
	s.sharesKV(shared, t.Bool(false, "use_double_wide_mlp"))
	return s
}

func gemma4Header(m *Meta) *Spec {
	s := m.base()
	s.Tables = nil // the factors follow from the family
	n := m.Layers()
	slides := m.windows(n, 6)
	sw, full := m.gemma4Heads(slides)
	moe := MoE{}
	if e := m.IntOr(0, "expert_count"); e > 0 {
		moe = MoE{Experts: e, Used: m.Int("expert_used_count"), Inner: m.Int("expert_feed_forward_length")}
	}
	s.PLE, s.PLEVocab = m.IntOr(0, "embedding_length_per_layer_input"), m.Rows("per_layer_token_embd.weight")
	inner, _ := m.PerLayer("feed_forward_length", n)
	gemma4Spec(s, sw, full, MLP{Inner: 1, Gated: true}, moe, slides, m.IntOr(0, "attention.shared_kv_layers"))
	for i := range s.Layers {
		l := &s.Layers[i]
		l.Attn.OwnKV = l.Attn.SharesKV && m.InLayer(i, "attn_k.weight")
		if l.FFN.Inner = 1; i < len(inner) {
			l.FFN.Inner = inner[i]
		}
	}
	return s
}

// sharesKV: the last layers use an earlier cache; their files hold keys' and values' matrices all the same, and in the smallest
// model their MLP is twice as wide.
func (s *Spec) sharesKV(last int64, wide bool) {
	for i := range s.Layers {
		l := &s.Layers[i]
		if int64(i) < int64(len(s.Layers))-last {
			continue
		}
		l.Attn.OwnKV = true
		if wide {
			l.FFN.Inner *= 2
		}
	}
}

// gemma3nTowers: an encoder of images, one of sounds, each with a table of tokens of its own and a projection.
func (c *Config) gemma3nTowers(s *Spec) {
	if v := c.Sub("vision_config"); v != nil {
		const known = "mobilenetv5_300m_enc"
		if got := v.Str("architecture"); got != known && got != "" {
			v.lacks("architecture", got, "names an encoder whose sizes the config does not give", fromFiles)
		}
		w := v.IntOr(2048, "hidden_size")
		s.Vision = mobileNetV5(w)
		s.Vision.After = append(s.Vision.After, multimodalEmbedding(v.IntOr(128, "vocab_size"), w, s.Hidden)...)
		s.Vision.Tokens = c.IntOr(256, "vision_soft_tokens_per_image")
	}
	if a := c.Sub("audio_config"); a != nil {
		a.defaults(map[string]int64{"hidden_size": 1536})
		t := a.gemmaAudio()
		t.After = append(t.After, multimodalEmbedding(a.IntOr(128, "vocab_size"), t.Width, s.Hidden)...)
		s.Beside = []*Tower{t}
	}
}

// multimodalEmbedding has a few tokens of its own beside what an encoder gives, and maps both to the text's width.
func multimodalEmbedding(tokens, from, to int64) []Weight {
	return []Weight{table(dtype.HardEmbed, tokens, from), norms(dtype.HardNorm, RMS, from), norms(dtype.SoftNorm, RMS, from), mapping(dtype.ProjectorIn, from, to, false)}
}

func (m *Meta) gemma4Heads(slides []bool) (sw, full Attention) {
	for i, a := range m.heads(len(slides)) {
		if slides[i] {
			a.DimK = m.IntOr(a.DimK, "attention.key_length_swa")
			a.DimV = m.IntOr(a.DimV, "attention.value_length_swa")
			a.Window = m.IntOr(1024, "attention.sliding_window")
			sw = a
			continue
		}
		a.KEqV = !m.InLayer(i, "attn_v.weight")
		full = a
	}
	return sw, full
}

func gemma4Spec(s *Spec, sw, full Attention, f MLP, moe MoE, slides []bool, shared int64) {
	s.EmbedScale, s.HeadCap = true, true
	if s.PLE == 0 {
		s.PLEVocab = 0
	}
	s.Tables = []Table{ropeTable(full.DimK / 2)}
	f.Act = GELU
	if moe.Experts > 0 {
		moe.Gated, moe.FusedGateUp, moe.Norm, moe.Beside, moe.Act = true, true, true, true, GELU
	}
	n := len(slides)
	s.Layers = make([]Layer, n)
	for i := range s.Layers {
		a := full
		if slides[i] {
			a = sw
		}
		a.QKNorm, a.VNorm = PerHead, true
		a.SharesKV = int64(i) >= int64(n)-shared
		s.Layers[i] = Layer{Norm: RMS, Place: Sandwich, Attn: a, FFN: f, MoE: moe, OutScale: true, PLE: s.PLE}
	}
}
