package family

import (
	"slices"

	"github.com/memwall/memwall/dtype"
)

// PartPredictor is the part of Qwen3-Omni that adds a frame's further codes to the talker's one.
const PartPredictor = "code_predictor"

// qwen3Omni: Qwen3-Omni (arXiv:2509.17765; transformers, models/qwen3_omni_moe): the thinker, which engines of text serve
// alone, a talker with experts that writes the first code of every frame of sound, a predictor of the frame's further codes,
// and a vocoder of a transformer and convolutions. What those that speak keep meanwhile is not counted.
var qwen3Omni = &Family{
	Name: "qwen3-omni", Types: []string{"qwen3_omni_moe"}, Classes: []string{"Qwen3OmniMoeForConditionalGeneration"},
	Config: func(c *Config) *Spec {
		s := qwen3Thinker(c.part("thinker_config"))
		if s.Native == nil {
			s.Native = c.Native()
		}
		if c.Bool(true, "enable_audio_output") {
			t := c.sub("talker_config")
			s.Beside = append(s.Beside, t.expertTalker(), t.sub("code_predictor_config").codePredictor(), c.sub("code2wav_config").codeToWave())
		}
		return s
	},
}

var qwen3OmniThinker = &Family{
	Name: "qwen3-omni-thinker", Types: []string{"qwen3_omni_moe_thinker"}, Classes: []string{"Qwen3OmniMoeThinkerForConditionalGeneration"},
	Config: qwen3Thinker,
}

// qwen3Thinker is Qwen3-VL with experts and an encoder of sounds.
func qwen3Thinker(c *Config) *Spec {
	c.part("vision_config") // which a Qwen3-VL may lack
	s := c.qwen3VL()
	s.Family = "qwen3vlmoe"
	s.Beside = []*Tower{c.part("audio_config").omniAudio()}
	return s
}

// omniAudio shortens a clip eight times by convolutions over frames and frequencies, and encodes it; positions are computed.
func (c *Config) omniAudio() *Tower {
	c.defaults(map[string]int64{"d_model": 1280, "encoder_layers": 32, "encoder_attention_heads": 20, "encoder_ffn_dim": 5120, "num_mel_bins": 128, "downsample_hidden_size": 480, "output_dim": 3584})
	const area = 3 * 3
	w, ch := c.Int("d_model"), c.Int("downsample_hidden_size")
	bins := (c.Int("num_mel_bins") + 7) / 8 // three strides of two, each rounded up
	t := &Tower{Name: PartAudio, Width: w, Layers: c.encoderSide(PreNorm)}
	t.Before = []Weight{mapping(dtype.AudioConv1, area, ch, true), mapping(dtype.AudioConv2, area*ch, ch, true), mapping(dtype.AudioConv2, area*ch, ch, true), mapping(dtype.AudioIn, bins*ch, w, false)}
	t.After = append([]Weight{norms(dtype.OutputNorm, LayerNormBias, w)}, twoLayers(w, w, c.Int("output_dim"), true)...)
	return t
}

// speaking takes the layers of a text model for a part that speaks, whose cache is its own affair: see qwen3Omni.
func speaking(s *Spec) []Layer {
	for i := range s.Layers {
		s.Layers[i].Attn.Bidirectional = true
	}
	return s.Layers
}

// expertTalker is a Qwen3 with experts and a gated shared one, which reads what the thinker embeds and what it leaves,
// each through two layers.
func (c *Config) expertTalker() *Tower {
	t := c.sub("text_config")
	t.defaults(map[string]int64{"vocab_size": 3072, "hidden_size": 1024, "intermediate_size": 2048, "num_hidden_layers": 20, "num_attention_heads": 16, "num_key_value_heads": 2,
		"num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 384})
	t.Int("shared_expert_intermediate_size") // its class has no default
	w, v := t.Int("hidden_size"), t.Int("vocab_size")
	reads := twoLayers(c.IntOr(2048, "thinker_hidden_size"), t.Int("intermediate_size"), w, true)
	before := append([]Weight{table(dtype.TokenEmbd, v, w)}, reads...)
	return &Tower{Name: PartTalker, Speaks: true, Width: w, Layers: speaking(t.qwen(normed(t.heads()))),
		Before: append(before, reads...), After: []Weight{norms(dtype.OutputNorm, RMS, w), mapping(dtype.ProjectorOut, w, v, false)}}
}

// codePredictor is a Qwen3 with a table and a head for every code of a frame but the talker's.
func (c *Config) codePredictor() *Tower {
	c.defaults(map[string]int64{"vocab_size": 2048, "hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 5, "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128, "num_code_groups": 32})
	w, v, n := c.Int("hidden_size"), c.Int("vocab_size"), c.stack(32, "num_code_groups")-1
	t := &Tower{Name: PartPredictor, Speaks: true, Width: w, Layers: speaking(c.qwen(normed(c.heads()))), After: []Weight{norms(dtype.OutputNorm, RMS, w)}}
	for range n {
		t.Before = append(t.Before, table(dtype.TokenEmbd, v, w))
		t.After = append(t.After, mapping(dtype.ProjectorOut, w, v, false))
	}
	return t
}

// codeToWave embeds the codes of a frame, reads frames with a transformer that looks back over a window, and makes a wave
// by convolutions that lengthen: blocks of ConvNeXt (arXiv:2201.03545), then blocks that halve the channels.
func (c *Config) codeToWave() *Tower {
	c.defaults(map[string]int64{"codebook_size": 2048, "num_quantizers": 16, "hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 8, "num_attention_heads": 16, "num_key_value_heads": 16, "decoder_dim": 1536, "sliding_window": 72})
	w, codes := c.Int("hidden_size"), c.Int("codebook_size")*int64(c.stack(16, "num_quantizers"))
	a := c.heads()
	a.Bidirectional, a.Window = true, c.Int("sliding_window")
	t := &Tower{Name: PartVocoder, Speaks: true, Width: w, Layers: repeat(Layer{Norm: RMS, Attn: a, FFN: c.gated(), LayerScale: true}, c.Layers()), Before: []Weight{table(dtype.TokenEmbd, codes, w)}}
	t.After = append([]Weight{norms(dtype.OutputNorm, RMS, w)}, c.lengthened(w)...)
	t.After = append(t.After, c.halved(w)...)
	return t
}

const speechKernel = 7 // frames that a convolution of the vocoder reads (class Qwen3OmniMoeCode2Wav)

// lengthened are transposed convolutions whose kernel is their stride, each with a block of ConvNeXt.
func (c *Config) lengthened(w int64) (out []Weight) {
	for _, by := range c.lengths("upsampling_ratios", 2, 2) {
		out = append(out, mapping(dtype.VisionNeck, by*w, w, true), mapping(dtype.VisionDepthwise, speechKernel, w, true), norms(dtype.VisionStageNorm, LayerNormBias, w),
			mapping(dtype.VisionStageUp, w, 4*w, true), mapping(dtype.VisionStageDown, 4*w, w, true), mixesIn(dtype.VisionStageScale, w))
	}
	return out
}

// halved are blocks of a transposed convolution, twice as wide as its stride, to half the channels, and three residual units.
// Every activation has two numbers a channel (SnakeBeta).
func (c *Config) halved(from int64) []Weight {
	ch := c.Int("decoder_dim")
	out := []Weight{mapping(dtype.VisionStem, speechKernel*from, ch, true)}
	for _, by := range c.lengths("upsample_rates", 8, 5, 4, 3) {
		out = append(out, mixesIn(dtype.VisionStageScale, 2*ch), mapping(dtype.VisionNeck, 2*by*ch, ch/2, true))
		ch /= 2
		for range 3 {
			out = append(out, mixesIn(dtype.VisionStageScale, 2*ch), mapping(dtype.VisionDepthwise, speechKernel*ch, ch, true), mixesIn(dtype.VisionStageScale, 2*ch), mapping(dtype.VisionStageUp, ch, ch, true))
		}
	}
	return append(out, mixesIn(dtype.VisionHeadNorm, 2*ch), mapping(dtype.VisionHead, speechKernel*ch, 1, true))
}

// lengths reads by how much convolutions lengthen, one after the other.
func (c *Config) lengths(key string, def ...int64) []int64 {
	got := c.Ints(key)
	if len(got) == 0 {
		return def
	}
	if len(got) > 16 || slices.Max(got) > 1<<10 {
		c.fail(key, c.m[key], "is more than convolutions of a wave have", "correct the config.json")
		return nil
	}
	return got
}

// qwen3ASR: Qwen3-ASR (arXiv:2601.21337; transformers, models/qwen3_asr): Qwen3 behind the encoder of sounds of Qwen3-Omni.
var qwen3ASR = &Family{
	Name: "qwen3-asr", Types: []string{"qwen3_asr"}, Classes: []string{"Qwen3ASRForConditionalGeneration", "Qwen3ASRForForcedAligner"},
	Config: func(c *Config) *Spec {
		k := c
		if c.Has("thinker_config") {
			k = c.part("thinker_config")
		}
		t := k.part("text_config")
		s := t.qwen(normed(t.heads()))
		s.Family = qwen3.Name
		s.Beside = []*Tower{k.part("audio_config").omniAudio()}
		return c.outerTie(s)
	},
}
