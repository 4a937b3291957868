package family

import (
	"strings"
	"testing"
)

const omni7B = `{"architectures":["Qwen2_5OmniModel"],"model_type":"qwen2_5_omni","thinker_config":{"text_config":{"hidden_size":3584,"intermediate_size":18944,"num_attention_heads":28,
	"num_key_value_heads":4,"num_hidden_layers":28,"vocab_size":152064,"max_position_embeddings":32768},"vision_config":{"hidden_size":1280,"out_hidden_size":3584},
	"audio_config":{"d_model":1280,"encoder_layers":32,"encoder_attention_heads":20,"encoder_ffn_dim":5120,"num_mel_bins":128,"output_dim":3584}},
	"talker_config":{"hidden_size":896,"num_attention_heads":12,"num_key_value_heads":4,"num_hidden_layers":24}}`

// TestOmni: Qwen/Qwen2.5-Omni-7B, the count of its safetensors metadata, and the thinker alone where no voice is asked for.
func TestOmni(t *testing.T) {
	m := readModel(t, omni7B)
	if got := m.Params(); got != 10_732_225_408 {
		t.Errorf("%d parameters", got)
	}
	var speaks int64
	for _, name := range []string{PartTalker, PartVocoder, PartWaves} {
		speaks += m.Part(name).Params()
	}
	mute := readModel(t, strings.Replace(omni7B, `{`, `{"enable_audio_output":false,`, 1))
	if mute.Part(PartTalker) != nil || m.Params()-mute.Params() != speaks {
		t.Errorf("without a voice %d parameters, of %d with %d that speak", mute.Params(), m.Params(), speaks)
	}
}

// TestOmniRefusals: sizes of the vocoder that do not go together are named.
func TestOmniRefusals(t *testing.T) {
	for more, field := range map[string]string{
		`"token2wav_config":{"dit_config":{"enc_channels":[256,256],"enc_kernel_sizes":[5]}},`:         "token2wav_config.dit_config.enc_channels",
		`"token2wav_config":{"bigvgan_config":{"upsample_rates":[5,3],"upsample_kernel_sizes":[11]}},`: "token2wav_config.bigvgan_config.upsample_rates",
		`"token2wav_config":{"dit_config":{"num_hidden_layers":1000000000}},`:                          "token2wav_config.dit_config.num_hidden_layers",
	} {
		c, err := ParseConfig([]byte(strings.Replace(omni7B, `{`, `{`+more, 1)))
		if err != nil {
			t.Fatal(err)
		}
		_, err = FromConfig(c)
		if e, ok := err.(*FieldError); !ok || e.Field != field {
			t.Errorf("%s: %v", more, err)
		}
	}
}
