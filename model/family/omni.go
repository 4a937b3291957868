package family

import (
	"slices"

	"github.com/memwall/memwall/dtype"
)

// Parts of Qwen2.5-Omni that speak.
const (
	PartTalker  = "talker"
	PartVocoder = "vocoder"
	PartWaves   = "waves"
)

// qwenOmni: Qwen2.5-Omni (arXiv:2503.20215; transformers, models/qwen2_5_omni): the thinker, which engines serve alone, a
// talker of codec tokens, and a vocoder: a diffusion transformer of spectra and BigVGAN (arXiv:2206.04658). What talker and
// vocoder keep while they speak is not counted.
var qwenOmni = &Family{
	Name: "qwen-omni", Types: []string{"qwen2_5_omni"}, Classes: []string{"Qwen2_5OmniModel", "Qwen2_5OmniForConditionalGeneration"},
	Config: func(c *Config) *Spec {
		s := qwen25Thinker(c.part("thinker_config"))
		if s.Native == nil {
			s.Native = c.Native()
		}
		if c.Bool(true, "enable_audio_output") {
			w := c.sub("token2wav_config")
			s.Beside = append(s.Beside, c.sub("talker_config").talker(), w.sub("dit_config").spectra(), w.sub("bigvgan_config").bigVGAN())
		}
		return s
	},
}

// talker is a Qwen2 over codec tokens that reads what the thinker embeds and leaves.
func (c *Config) talker() *Tower {
	c.defaults(map[string]int64{"vocab_size": 8448, "embedding_size": 3584, "hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28, "num_attention_heads": 28, "num_key_value_heads": 4, "head_dim": 128})
	w, e, v := c.Int("hidden_size"), c.Int("embedding_size"), c.Int("vocab_size")
	a := c.heads().bias(true, true, false)
	a.Bidirectional = true // its cache is its own affair: see qwenOmni
	return &Tower{Name: PartTalker, Speaks: true, Width: w, Layers: repeat(Layer{Norm: RMS, Attn: a, FFN: c.gated()}, c.Layers()),
		Before: []Weight{table(dtype.TokenEmbd, v, e), mapping(dtype.ProjectorIn, e, w, true)}, After: []Weight{norms(dtype.OutputNorm, RMS, w), mapping(dtype.ProjectorOut, w, v, false)}}
}

// spectra is the diffusion transformer that draws a spectrum from codec tokens and a voice.
func (c *Config) spectra() *Tower {
	c.defaults(map[string]int64{"hidden_size": 1024, "num_hidden_layers": 22, "num_attention_heads": 16, "head_dim": 64, "ff_mult": 2, "emb_dim": 512, "num_embeds": 8193, "mel_dim": 80, "enc_emb_dim": 192, "enc_dim": 128,
		"enc_attention_channels": 64, "enc_res2net_scale": 2, "enc_se_channels": 64})
	w, mel, voice := c.Int("hidden_size"), c.Int("mel_dim"), c.Int("enc_dim")
	h, wide := c.across("head_dim")
	inner := c.Int("ff_mult") * w
	block := []Weight{steers(dtype.SteerMix, w, 6*w), mapping(dtype.AttnQ, w, wide, true), mapping(dtype.AttnK, w, wide, true), mapping(dtype.AttnV, w, wide, true), attends(h, wide/max(1, h)),
		mapping(dtype.AttnOutput, wide, w, true), mapping(dtype.FFNUp, w, inner, true), mapping(dtype.FFNDown, inner, w, true)}
	before := append(timed(frequencies, w), table(dtype.TokenEmbd, c.Int("num_embeds")+1, c.Int("emb_dim")))
	before = append(before, c.voice(mel, voice)...)
	before = append(before, branched(mapping(dtype.VisionPatch, mel+voice+c.Int("enc_emb_dim")+c.Int("emb_dim"), w, true)))
	return &Tower{Name: PartVocoder, Speaks: true, Width: w, Layers: rows(c.stack(22, "num_hidden_layers"), "spectrum block", block...), Before: before,
		After: []Weight{steers(dtype.SteerOut, w, 2*w), mapping(dtype.PatchOut, w, mel, true)}}
}

// voice is ECAPA-TDNN (arXiv:2005.07143): convolutions over time in groups, squeezed and excited, pooled by attention.
func (c *Config) voice(mel, out int64) []Weight {
	ch, k := c.Ints("enc_channels"), c.Ints("enc_kernel_sizes")
	if len(ch) == 0 {
		ch = []int64{256, 256, 256, 256, 768}
	}
	if len(k) == 0 {
		k = []int64{5, 3, 3, 3, 1}
	}
	if len(ch) != len(k) || len(ch) < 3 || len(ch) > 64 || slices.Max(ch) > 1<<16 || slices.Max(k) > 1<<10 {
		c.fail("enc_channels", c.m["enc_channels"], "does not go with enc_kernel_sizes", "correct the config.json")
		return nil
	}
	groups, se, last := c.Int("enc_res2net_scale"), c.Int("enc_se_channels"), ch[len(ch)-1]
	w := []Weight{branched(mapping(dtype.VisionStem, mel*k[0], ch[0], true))}
	for i := 1; i < len(ch)-1; i++ {
		part := ch[i] / max(1, groups)
		w = append(w, mapping(dtype.VisionStageUp, ch[i-1], ch[i], true))
		for range min(groups-1, 64) {
			w = append(w, mapping(dtype.VisionDepthwise, part*k[i], part, true))
		}
		w = append(w, mapping(dtype.VisionStageDown, ch[i], ch[i], true), mapping(dtype.VisionNeck, ch[i], se, true), mapping(dtype.VisionHead, se, ch[i], true))
	}
	at := c.Int("enc_attention_channels")
	return append(w, mapping(dtype.ProjectorMerge, last*k[len(k)-1], last, true), mapping(dtype.PoolAttn, 3*last, at, true), mapping(dtype.PoolOutput, at, last, true), mapping(dtype.ProjectorMid, 2*last, out, true))
}

// bigVGAN turns a spectrum into a wave: transposed convolutions that lengthen it, each followed by blocks of six convolutions
// for every kernel, with two numbers a channel in every activation.
func (c *Config) bigVGAN() *Tower {
	c.defaults(map[string]int64{"mel_dim": 80, "upsample_initial_channel": 1536})
	kernels, rates, up := c.Ints("resblock_kernel_sizes"), c.Ints("upsample_rates"), c.Ints("upsample_kernel_sizes")
	if len(kernels) == 0 {
		kernels = []int64{3, 7, 11}
	}
	if len(up) == 0 {
		up = []int64{11, 7, 4, 4, 4, 4}
	}
	if len(rates) > 0 && len(rates) != len(up) || len(up) > 16 || len(kernels) > 16 || slices.Max(up) > 1<<10 || slices.Max(kernels) > 1<<10 {
		c.fail("upsample_rates", c.m["upsample_rates"], "does not go with upsample_kernel_sizes", "correct the config.json")
		return &Tower{Name: PartWaves, Width: 1}
	}
	const ends = 7
	ch := c.Int("upsample_initial_channel")
	w := []Weight{mapping(dtype.VisionStem, c.Int("mel_dim")*ends, ch, true)}
	for _, k := range up {
		w = append(w, Weight{Role: dtype.VisionNeck, Use: MixesIn, In: ch * k, Out: ch / 2}, mixesIn(dtype.VisionNeckNorm, ch/2))
		ch /= 2
		for _, k := range kernels {
			for range 6 {
				w = append(w, mapping(dtype.VisionDepthwise, ch*k, ch, true), mixesIn(dtype.VisionStageScale, 2*ch))
			}
		}
	}
	return &Tower{Name: PartWaves, Speaks: true, Width: 1, Before: append(w, mixesIn(dtype.VisionHeadNorm, 2*ch), mapping(dtype.VisionHead, ch*ends, 1, false))}
}
