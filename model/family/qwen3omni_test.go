package family

import (
	"strings"
	"testing"
)

const omni30B = `{"architectures":["Qwen3OmniMoeForConditionalGeneration"],"model_type":"qwen3_omni_moe","dtype":"bfloat16","thinker_config":{
	"text_config":{"hidden_size":2048,"intermediate_size":768,"moe_intermediate_size":768,"num_experts":128,"num_experts_per_tok":8,"num_attention_heads":32,"num_key_value_heads":4,"head_dim":128,
		"num_hidden_layers":48,"vocab_size":152064,"max_position_embeddings":65536,"mlp_only_layers":[],"shared_expert_intermediate_size":0},
	"vision_config":{"depth":27,"hidden_size":1152,"intermediate_size":4304,"num_heads":16,"patch_size":16,"spatial_merge_size":2,"temporal_patch_size":2,"out_hidden_size":2048,"num_position_embeddings":2304,
		"deepstack_visual_indexes":[8,16,24]},
	"audio_config":{"output_dim":2048}},
	"talker_config":{"text_config":{"head_dim":128,"num_experts_per_tok":6,"shared_expert_intermediate_size":768},"code_predictor_config":{"num_code_groups":16}}}`

// TestQwen3Omni: Qwen/Qwen3-Omni-30B-A3B-Instruct. The whole is the count of its safetensors metadata
// (n_parameters in MTEB's list of models), the parts are what was printed of the loaded model
// (ai-bot-pro/achatbot, pull request 196).
func TestQwen3Omni(t *testing.T) {
	m := readModel(t, omni30B)
	const whole, thinker, talker = 35_259_818_545, 31_719_205_488, 3_324_596_480
	if got := m.Params(); got != whole {
		t.Errorf("%d parameters, of which %d talk and %d make waves", got, m.Part(PartTalker).Params(), m.Part(PartVocoder).Params())
	}
	if got := m.Part(PartTalker).Params() + m.Part(PartPredictor).Params(); got != talker {
		t.Errorf("a talker of %d parameters", got)
	}
	mute := readModel(t, strings.Replace(omni30B, `{`, `{"enable_audio_output":false,`, 1))
	if got := mute.Params(); got != thinker || mute.Part(PartTalker) != nil {
		t.Errorf("without a voice %d parameters", got)
	}
}

// TestQwen3OmniRefusals: what is missing, or goes together with nothing, is named.
func TestQwen3OmniRefusals(t *testing.T) {
	for old, to := range map[string][2]string{
		`"shared_expert_intermediate_size":768`: {`"x":1`, "talker_config.text_config.shared_expert_intermediate_size"},
		`"vision_config"`:                       {`"x"`, "thinker_config.vision_config"},
		`"num_code_groups":16`:                  {`"num_code_groups":1000000000`, "talker_config.code_predictor_config.num_code_groups"},
		`"talker_config"`:                       {`"code2wav_config":{"upsample_rates":[8,1000000]},"talker_config"`, "code2wav_config.upsample_rates"},
	} {
		c, err := ParseConfig([]byte(strings.Replace(omni30B, old, to[0], 1)))
		if err != nil {
			t.Fatal(err)
		}
		_, err = FromConfig(c)
		if e, ok := err.(*FieldError); !ok || e.Field != to[1] {
			t.Errorf("%s: %v", to[1], err)
		}
	}
}
