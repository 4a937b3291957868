package family

import (
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/unit"
)

// TestResampled: totals of published checkpoints: of Salesforce/xgen-mm-phi3-mini-instruct-r-v1's index, of the files of
// THUDM/cogvlm2-llama3-caption less their headers and rotary frequencies, of the index of an
// InternLM-XComposer2-4KHD, of Phi-4-multimodal-instruct's headers.
func TestResampled(t *testing.T) {
	for name, c := range map[string]struct {
		config string
		want   int64
	}{
		"xgen-mm": {`{"architectures":["XGenMMModelForConditionalGeneration"],"text_config":{"model_type":"phi3"},"vision_encoder_config":{},"vision_tokenizer_config":{}}`, 4_359_257_219},
		"cogvlm2-llama3-caption": {`{"architectures":["CogVLMVideoForCausalLM"],"hidden_size":4096,"intermediate_size":14336,"num_attention_heads":32,"num_hidden_layers":32,"num_multi_query_heads":8,
			"vocab_size":128256,"max_position_embeddings":2048,"vision_config":{"hidden_size":1792,"in_channels":3,"intermediate_size":15360,"num_heads":16,"num_hidden_layers":63,"num_positions":257,"patch_size":14}}`, 12_507_530_496},
		"xcomposer2-4khd": {`{"architectures":["InternLM2ForCausalLM"],"model_type":"internlmxcomposer2","max_length":16384,"hidden_size":4096,"intermediate_size":14336,"num_attention_heads":32,
			"num_hidden_layers":32,"num_key_value_heads":8,"vocab_size":92544}`, 8_597_499_904},
		"phi-4-multimodal": {phi4Multimodal, 5_574_460_224},
	} {
		if got := readModel(t, c.config).Params(); got != c.want {
			t.Errorf("%s: %d parameters, want %d", name, got, c.want)
		}
	}
}

const phi4Multimodal = `{"architectures":["Phi4MMForCausalLM"],"hidden_size":3072,"intermediate_size":8192,"num_attention_heads":24,"num_key_value_heads":8,"num_hidden_layers":32,"vocab_size":200064,
	"tie_word_embeddings":true,"max_position_embeddings":131072,"vision_lora":{"r":256},"speech_lora":{"r":320},"audio_processor":{"config":{"attention_dim":1024,"attention_heads":16,"num_blocks":24,
	"linear_units":1536,"relative_attention_bias_args":{"t5_bias_max_distance":500}}}}`

// TestBranches: branches for tokens of other modalities are parameters, and a step of text neither reads nor multiplies
// them.
func TestBranches(t *testing.T) {
	with := readModel(t, phi4Multimodal)
	without := readModel(t, `{"architectures":["Phi4MultimodalForCausalLM"],"hidden_size":3072,"intermediate_size":8192,"num_attention_heads":24,"num_key_value_heads":8,"num_hidden_layers":32,
	"vocab_size":200064,"tie_word_embeddings":true,"max_position_embeddings":131072,"audio_config":{"bias_max_distance":500}}`)
	const ranks, layers = 256 + 320, 32
	if got := with.Params() - without.Params(); got != layers*ranks*(3072+5120+2*3072+3072+2*8192+8192+3072) {
		t.Errorf("the branches have %d parameters", got)
	}
	for i := range with.Decoder().Kinds[0].Ops {
		if o := &with.Decoder().Kinds[0].Ops[i]; o.Role == dtype.BranchDown || o.Role == dtype.BranchUp {
			if c := o.Coeffs(&model.Exec{ActBytes: 2}, func(int) unit.Bytes { return 1 }); c != (model.Coeffs{}) {
				t.Errorf("a step of text pays for %s: %+v", o.Role, c)
			}
		}
	}
}
