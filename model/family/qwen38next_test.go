package family

import "testing"

const flashNext = `{"architectures":["Qwen3_8_FlashNextForConditionalGeneration"],"model_type":"qwen3_8_flash_next","text_config":{"attention_bias":false,"dtype":"bfloat16","full_attention_interval":4,"hc_count":4,"hc_lowrank":320,"head_dim":256,"heads_per_ngram":8,"hidden_act":"silu","hidden_size":2560,"indexer_budget":2048,"indexer_compress_ratio":4,"indexer_head_dim":128,"indexer_kv_heads":1,"indexer_n_heads":4,"linear_conv_kernel_dim":4,"linear_key_head_dim":128,"linear_num_key_heads":16,"linear_num_value_heads":48,"linear_value_head_dim":128,"make_ngram_vocab_size_divisible_by":128,"mamba_ssm_dtype":"float32","max_position_embeddings":262144,"model_type":"qwen3_8_flash_next_text","moe_intermediate_size":640,"mtp":{"hybrid":true,"layer_types":["full_attention"],"num_hidden_layers":1,"rope_theta":10000000},"mtp_num_hidden_layers":1,"mtp_use_dedicated_embeddings":false,"ngram_size":3,"ngram_vocab_size_base":20000000,"num_attention_heads":24,"num_experts":512,"num_experts_per_tok":10,"num_hidden_layers":48,"num_key_value_heads":2,"output_gate_type":"sigmoid","partial_rotary_factor":0.25,"ple_conv_kernel_size":4,"ple_embed_dim":2560,"ple_layer_ids":[2],"rms_norm_eps":1e-6,"shared_expert_intermediate_size":640,"split_ngram_parts":128,"tie_word_embeddings":false,"vocab_size":248320},"tie_word_embeddings":false,"vision_config":{"deepstack_visual_indexes":[],"depth":27,"hidden_act":"gelu_pytorch_tanh","hidden_size":1152,"in_channels":3,"intermediate_size":4304,"model_type":"qwen3_8_flash_next","num_heads":16,"num_position_embeddings":2304,"out_hidden_size":2560,"patch_size":16,"spatial_merge_size":2,"temporal_patch_size":2}}`

// TestQwen38FlashNext: Qwen/Qwen3.8-Flash-Next holds 179,999,981,424 parameters (the count of its safetensors, revision
// f5d08274): 125 billion of the network, 51 in the table of n-grams, the rest in the prediction layer.
func TestQwen38FlashNext(t *testing.T) {
	m := readModel(t, flashNext)
	const published = 179_999_981_424
	all := m.Totals()
	if got := all.Unique + all.MTP; float64(got) < (1-unwrittenStreams)*published || got > published {
		t.Errorf("%d parameters of %d", got, int64(published))
	}
	if got := m.ActiveParams(); got < 6_000_000_000 || got > 7_500_000_000 {
		t.Errorf("%d parameters work for a token, published are 6 billion without embeddings and head", got)
	}
}
