package family

import (
	"strings"
	"testing"
)

// TestDoubts: what a config says twice and differently is named, and what it says once is not.
func TestDoubts(t *testing.T) {
	const dims = `"hidden_size":64,"intermediate_size":128,"num_attention_heads":4,"num_hidden_layers":2,"vocab_size":256`
	for config, want := range map[string]string{
		`{"architectures":["LlamaForCausalLM"],"model_type":"qwen2",` + dims + `}`:                                                        "class_and_type",
		`{"architectures":["LlamaForCausalLM","Qwen2ForCausalLM"],` + dims + `}`:                                                          "several_classes",
		`{"architectures":["LlamaForCausalLM"],"n_embd":128,` + dims + `}`:                                                                "field_twice",
		`{"architectures":["LlamaForCausalLMEagle3"],"model_type":"llama",` + dims + `}`:                                                  "drafter",
		`{"architectures":["LlamaForCausalLM"],"draft_vocab_size":32,` + dims + `}`:                                                       "drafter",
		`{"architectures":["LlamaForCausalLM"],"hidden_size":128,` + dims + `}`:                                                           "field_twice",
		`{"architectures":["LlamaForCausalLM"],"auto_map":{"AutoModelForCausalLM":"modeling_x.XForCausalLM"},` + dims + `}`:               "remote_code",
		`{"architectures":["LlamaForCausalLM"],"model_type":"llama","n_layer":2,"hidden_size":64,` + dims + `}`:                           "",
		`{"architectures":["MistralForCausalLM","LlamaForCausalLM"],"model_type":"mixtral","auto_map":{"AutoConfig":"x.C"},` + dims + `}`: "",
	} {
		c, err := ParseConfig([]byte(config))
		if err != nil {
			t.Fatal(err)
		}
		var codes []string
		for _, d := range c.Doubts() {
			codes = append(codes, d.Code)
		}
		if got := strings.Join(codes, " "); got != want {
			t.Errorf("%s: doubts %q, want %q", config, got, want)
		}
		if _, err := FromConfig(c); err != nil {
			t.Errorf("%s: %v", config, err)
		}
	}
}
