package family

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWholes: totals that the model cards of networks without a family of their own state lie in the band of what the usual fields
// give, where nothing but the config is read. The configs are in testdata: the fields that are
// read, those of granite-speech from a published config.json and the others from memory of one.
func TestWholes(t *testing.T) {
	for name, billions := range map[string]float64{
		"minicpm-o-4.5": 9, "nemotron-nano-12b-v2-vl": 12.6, "step3": 321, "kimi-audio-7b": 9.77, "granite-speech-2b": 2.1,
		"janus-pro-7b": 7.42, "vibevoice-1.5b": 2.7, "bagel-7b-mot": 14.7,
	} {
		data, err := os.ReadFile(filepath.Join("testdata", "wholes", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		c, err := ParseConfig(data)
		if err != nil {
			t.Fatal(err)
		}
		s, how, err := Generic(c)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := float64(s.Model(name).Params()) / 1e9
		if got*(1-s.Unsure-s.UnsureBelow) > billions || got*(1+s.Unsure) < billions {
			t.Errorf("%s: %.2f ± %.2f of it, published %.2f (%s)", name, got, s.Unsure, billions, how)
		}
	}
}

// TestAssistants: Gemma 4's drafters have the parameters that their model cards state: 78, 78.8, 420 and 470 millions.
func TestAssistants(t *testing.T) {
	const form = `{"architectures":["Gemma4AssistantForCausalLM"],"model_type":"gemma4_assistant","backbone_hidden_size":T,"tie_word_embeddings":true,"text_config":{
		"model_type":"gemma4_text","num_hidden_layers":4,"hidden_size":D,"intermediate_size":I,"num_attention_heads":H,"num_key_value_heads":K,"head_dim":256,"global_head_dim":512,
		"sliding_window":512,"max_position_embeddings":131072,"layer_types":["sliding_attention","sliding_attention","sliding_attention","full_attention"],"num_kv_shared_layers":4,
		"vocab_size":262144}}`
	for _, c := range []struct {
		target, d, inner, heads, kv string
		millions                    float64
	}{{"1536", "256", "2048", "4", "1", 78}, {"2560", "256", "2048", "4", "2", 78.8}, {"2816", "1024", "8192", "16", "8", 420}, {"5376", "1024", "8192", "32", "16", 470}} {
		text := strings.NewReplacer(":T,", ":"+c.target+",", ":D,", ":"+c.d+",", ":I,", ":"+c.inner+",", ":H,", ":"+c.heads+",", ":K,", ":"+c.kv+",").Replace(form)
		config, err := ParseConfig([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		m, err := FromConfigModel("draft", config)
		if err != nil {
			t.Errorf("of %s: %v", c.target, err)
			continue
		}
		if got := float64(m.Params()) / 1e6; got < c.millions*0.985 || got > c.millions*1.01 {
			t.Errorf("of %s: %.1f million parameters, want %.1f", c.target, got, c.millions)
		}
	}
}
