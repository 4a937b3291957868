package family

import "testing"

// TestDrafters: sizes of published drafters without the embedding and the head that they take from their target. Of EAGLE-3
// these are the tensors of the checkpoint: a map of three states, a layer whose matrices read twice the width, a head of
// 32,000 rows (yuhuili/EAGLE3-LLaMA3.1-Instruct-8B: 850 MB of 16 bits); of DFlash the 1.07 GB of
// z-lab/Qwen3-4B-DFlash-b16.
func TestDrafters(t *testing.T) {
	const h, kv, inner = 4096, 1024, 14336
	eagle := int64(3*h*h + 2*h*(h+2*kv) + h*h + 3*h*inner + 32000*h + 4*h)
	for _, c := range []struct {
		name, config string
		want         int64
	}{
		{"EAGLE-3 by its class", `{"architectures":["LlamaForCausalLMEagle3"],"draft_vocab_size":32000,"hidden_size":4096,"intermediate_size":14336,"model_type":"llama",
			"num_attention_heads":32,"num_hidden_layers":1,"num_key_value_heads":8,"torch_dtype":"float16","vocab_size":128256}`, eagle},
		{"EAGLE-3 under an ordinary class", `{"architectures":["LlamaForCausalLM"],"draft_vocab_size":32000,"hidden_size":4096,"intermediate_size":14336,"model_type":"llama",
			"num_attention_heads":32,"num_hidden_layers":1,"num_key_value_heads":8,"torch_dtype":"float16","vocab_size":128256}`, eagle},
		{"EAGLE-3 as speculators write it", `{"architectures":["Eagle3Speculator"],"draft_vocab_size":32000,"speculators_model_type":"eagle3","target_hidden_size":null,
			"transformer_layer_config":{"hidden_size":4096,"intermediate_size":14336,"num_attention_heads":32,"num_hidden_layers":1,"num_key_value_heads":8,"vocab_size":128256}}`, eagle},
		{"EAGLE-3 without the target's states", `{"architectures":["LlamaForCausalLMEagle3"],"draft_vocab_size":32000,"eagle_config":{"use_aux_hidden_state":false},"hidden_size":4096,
			"intermediate_size":14336,"num_attention_heads":32,"num_hidden_layers":1,"num_key_value_heads":8,"vocab_size":128256}`, eagle - 3*h*h},
		{"DFlash", `{"architectures":["DFlashDraftModel"],"block_size":16,"dflash_config":{"mask_token_id":151669,"target_layer_ids":[1,9,17,25,33]},"dtype":"bfloat16","head_dim":128,
			"hidden_size":2560,"intermediate_size":9728,"model_type":"qwen3","num_attention_heads":32,"num_hidden_layers":5,"num_key_value_heads":8,"num_target_layers":36,
			"tie_word_embeddings":true,"vocab_size":151936}`, 5*2560*2560 + 5*(2*2560*4096+2*2560*1024+3*2560*9728+2*2560+2*128) + 2*2560},
	} {
		config, err := ParseConfig([]byte(c.config))
		if err != nil {
			t.Fatal(err)
		}
		m, err := FromConfigModel("draft", config)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := m.Params(); got != c.want {
			t.Errorf("%s: %d parameters, want %d", c.name, got, c.want)
		}
	}
}
