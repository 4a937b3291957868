package family

import "github.com/memwall/memwall/dtype"

// whisper: speech to text (arXiv:2212.04356; transformers, models/whisper/modeling_whisper.py): two convolutions
// and an encoder over a fixed number of frames, and a decoder that attends to them. Keys have no bias.
var whisper = &Family{
	Name: "whisper", Classes: []string{"WhisperForConditionalGeneration", "WhisperModel"}, Types: []string{"whisper"},
	Config: func(c *Config) *Spec {
		c.as("max_position_embeddings", "max_target_positions", "max_position_embeddings")
		s := c.base(true)
		s.Source.Rotary, s.OutNorm, s.Positions = nil, LayerNormBias, c.IntOr(448, "max_target_positions")
		source := c.IntOr(1500, "max_source_positions")
		s.Layers = keyless(c.decoderSide(PreNorm, source))
		e := c.whisperTower(s.Hidden, true)
		e.Name = PartEncoder
		s.Beside = []*Tower{e}
		return s
	},
}

// keyless takes the biases off keys.
func keyless(layers []Layer) []Layer {
	for i := range layers {
		layers[i].Attn.NoBiasK, layers[i].Cross.NoBiasK = true, true
	}
	return layers
}

// whisperTower reads the encoder: convolutions of three frames, positions (fixed, and stored), layers, a norm.
func (c *Config) whisperTower(w int64, positions bool) *Tower {
	const kernel = 3
	c.as("d_model", "d_model", "hidden_size")
	c.as("encoder_layers", "encoder_layers", "num_hidden_layers")
	c.as("encoder_attention_heads", "encoder_attention_heads", "num_attention_heads")
	c.as("encoder_ffn_dim", "encoder_ffn_dim", "intermediate_size")
	t := &Tower{Name: PartAudio, Width: w, Layers: keyless(c.encoderSide(PreNorm)),
		Before: []Weight{mapping(dtype.AudioConv1, kernel*c.IntOr(80, "num_mel_bins"), w, true), mapping(dtype.AudioConv2, kernel*w, w, true)},
		After:  []Weight{norms(dtype.OutputNorm, LayerNormBias, w)}}
	if positions {
		t.Before = append(t.Before, table(dtype.AudioPosition, c.IntOr(1500, "max_source_positions"), w))
	}
	return t
}

// voxtral: Whisper's encoder, four frames joined to one token, two linear maps, a text model (arXiv:2507.13264).
var voxtral = &Family{
	Name: "voxtral", Classes: []string{"VoxtralForConditionalGeneration"}, Types: []string{"voxtral"},
	Config: func(c *Config) *Spec {
		s := c.wrapped("text_config")
		a := c.part("audio_config")
		w := a.Int("hidden_size")
		t := a.whisperTower(w, true)
		t.After = append(t.After, twoLayers(a.Int("intermediate_size"), s.Hidden, s.Hidden, false)...)
		s.Beside = []*Tower{t}
		return s
	},
}

// qwen2audio: Whisper's encoder and one linear map beside a Qwen2 (arXiv:2407.10759).
var qwen2audio = &Family{
	Name: "qwen2-audio", Classes: []string{"Qwen2AudioForConditionalGeneration"}, Types: []string{"qwen2_audio"},
	Config: func(c *Config) *Spec {
		s := c.wrapped("text_config")
		a := c.part("audio_config")
		w := a.Int("d_model")
		t := a.whisperTower(w, true)
		t.After = append(t.After, mapping(dtype.ProjectorIn, w, s.Hidden, true))
		s.Beside = []*Tower{t}
		return s
	},
}

// glmASR: Whisper's encoder with rotary positions, four frames joined, two linear maps, a text model (the
// published class GlmasrForConditionalGeneration).
var glmASR = &Family{
	Name: "glm-asr", Classes: []string{"GlmasrForConditionalGeneration"}, Types: []string{"glmasr"},
	Config: func(c *Config) *Spec {
		s := c.wrapped("lm_config")
		a := c.part("whisper_config")
		w := a.Int("d_model")
		t := a.whisperTower(w, true)
		t.After = append(t.After, twoLayers(w*c.IntOr(4, "merge_factor"), 2*s.Hidden, s.Hidden, true)...)
		s.Beside = []*Tower{t}
		return s
	},
}
