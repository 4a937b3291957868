package family

import "testing"

// TestGPTNeoXParameters: EleutherAI/pythia-410m, the count of its safetensors metadata.
func TestGPTNeoXParameters(t *testing.T) {
	c, err := ParseConfig([]byte(`{"architectures":["GPTNeoXForCausalLM"],"hidden_size":1024,"intermediate_size":4096,"max_position_embeddings":2048,
		"model_type":"gpt_neox","num_attention_heads":16,"num_hidden_layers":24,"tie_word_embeddings":false,"torch_dtype":"float16","vocab_size":50304}`))
	if err != nil {
		t.Fatal(err)
	}
	m, err := FromConfigModel("pythia-410m", c)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Params(); got != 405_334_016 {
		t.Errorf("%d parameters, want 405,334,016", got)
	}
}
