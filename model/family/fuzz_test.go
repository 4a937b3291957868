package family

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzConfig: any text gives a network that can be built, or an error.
func FuzzConfig(f *testing.F) {
	for _, s := range []string{
		`{"architectures":["LlamaForCausalLM"],"hidden_size":64,"intermediate_size":160,"num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,"vocab_size":256}`,
		`{"model_type":"qwen3_next","hidden_size":64,"moe_intermediate_size":32,"num_hidden_layers":4,"num_attention_heads":4,"head_dim":32,"num_experts":4,"num_experts_per_tok":2,"linear_num_key_heads":2,"linear_num_value_heads":4,"linear_key_head_dim":16,"linear_value_head_dim":16,"linear_conv_kernel_dim":4,"vocab_size":256}`,
		`{"model_type":"deepseek_v3","hidden_size":64,"intermediate_size":160,"num_hidden_layers":3,"num_attention_heads":4,"n_routed_experts":4,"num_experts_per_tok":2,"moe_intermediate_size":32,"kv_lora_rank":32,"qk_rope_head_dim":8,"qk_nope_head_dim":16,"v_head_dim":16,"num_nextn_predict_layers":1,"vocab_size":256}`,
		`{"model_type":"nemotron_h","hidden_size":64,"intermediate_size":160,"num_attention_heads":4,"mamba_num_heads":4,"mamba_head_dim":16,"ssm_state_size":16,"hybrid_override_pattern":"M-*E","n_routed_experts":4,"num_experts_per_tok":2,"moe_intermediate_size":8,"vocab_size":256}`,
		`{"model_type":"gemma3","vision_config":{"patch_size":4,"image_size":16,"hidden_size":32,"num_hidden_layers":1,"intermediate_size":64,"num_attention_heads":2},"text_config":{"num_hidden_layers":2}}`,
		`{"model_type":"gemma3n","text_config":{"hidden_size":64,"num_hidden_layers":5,"num_attention_heads":4,"vocab_size":256,"intermediate_size":[160]}}`,
		`{"model_type":"deepseek_v4","hidden_size":64,"head_dim":16,"hc_mult":4,"compress_ratios":[0,4,128],"sliding_window":8,"q_lora_rank":32,"o_groups":2,"o_lora_rank":8,"num_hidden_layers":3,"num_attention_heads":4,"n_routed_experts":4,"num_experts_per_tok":2,"moe_intermediate_size":32,"index_n_heads":2,"index_head_dim":8,"num_nextn_predict_layers":1,"vocab_size":256}`,
		`{"model_type":"glm_moe_dsa","hidden_size":64,"intermediate_size":160,"num_hidden_layers":3,"num_attention_heads":4,"n_routed_experts":4,"num_experts_per_tok":2,"moe_intermediate_size":32,"q_lora_rank":32,"kv_lora_rank":32,"qk_rope_head_dim":8,"qk_nope_head_dim":16,"v_head_dim":16,"index_n_heads":2,"index_head_dim":8,"indexer_types":["full","shared","full"],"vocab_size":256}`,
		`{"model_type":"kimi_linear","hidden_size":64,"intermediate_size":160,"num_hidden_layers":4,"num_attention_heads":4,"kv_lora_rank":32,"qk_rope_head_dim":8,"qk_nope_head_dim":16,"v_head_dim":16,"linear_attn_config":{"num_heads":4,"head_dim":16,"full_attn_layers":[4]},"num_experts":4,"num_experts_per_token":2,"moe_intermediate_size":32,"attn_res_block_size":2,"vocab_size":256}`,
		`{"model_type":"nemotron-nas","hidden_size":64,"num_hidden_layers":2,"num_attention_heads":4,"vocab_size":256,"block_configs":[{"attention":{"n_heads_in_group":2},"ffn":{"no_op":true}},{"attention":{"replace_with_linear":true},"ffn":{"ffn_mult":2.625}}]}`,
		`{"model_type":"minimax_m1","hidden_size":64,"intermediate_size":160,"num_hidden_layers":2,"num_attention_heads":4,"num_local_experts":4,"num_experts_per_tok":2,"attn_type_list":[0,1],"vocab_size":256}`,
		`{"model_type":"lfm2","hidden_size":64,"block_ff_dim":160,"num_hidden_layers":2,"num_attention_heads":4,"full_attn_idxs":[1],"vocab_size":256}`,
		`{"model_type":"rwkv7","hidden_size":64,"num_hidden_layers":2,"decay_low_rank_dim":8,"a_low_rank_dim":8,"v_low_rank_dim":8,"gate_low_rank_dim":8,"hidden_ratio":4.0,"vocab_size":256}`,
		`{"model_type":"plamo2","hidden_size":64,"intermediate_size":160,"num_hidden_layers":4,"num_attention_heads":4,"hidden_size_per_head":16,"mamba_num_heads":4,"full_attention_idx":[1],"vocab_size":256}`,
		`{"model_type":"longcat_flash","hidden_size":64,"ffn_hidden_size":160,"num_layers":2,"num_attention_heads":4,"kv_lora_rank":32,"q_lora_rank":16,"qk_rope_head_dim":8,"qk_nope_head_dim":16,"v_head_dim":16,"n_routed_experts":4,"zero_expert_num":2,"moe_topk":2,"expert_ffn_hidden_size":32,"vocab_size":256}`,
		`{"model_type":"jamba","hidden_size":64,"intermediate_size":160,"num_hidden_layers":8,"num_attention_heads":4,"vocab_size":256}`,
		`{"model_type":"mllama","text_config":{"cross_attention_layers":[1],"hidden_size":64,"intermediate_size":128,"num_hidden_layers":2,"num_attention_heads":4,"vocab_size":256},"vision_config":{"attention_heads":4,"hidden_size":32,"image_size":28,"intermediate_size":64,"max_num_tiles":4,"num_hidden_layers":2,"patch_size":14,"vision_output_dim":96}}`,
		`{"model_type":"internvl_chat","llm_config":{"model_type":"qwen2"},"vision_config":{"image_size":448,"patch_size":14,"hidden_size":64,"intermediate_size":64,"num_attention_heads":4,"num_hidden_layers":1}}`,
		`{"model_type":"deepseek_vl_v2","language_config":{"hidden_size":64,"intermediate_size":160,"num_hidden_layers":3,"num_attention_heads":4,"n_routed_experts":4,"num_experts_per_tok":2,"moe_intermediate_size":32},"vision_config":{"width":64,"layers":1},"projector_config":{}}`,
		`{"model_type":"qwen2_vl","hidden_size":64,"intermediate_size":64,"num_hidden_layers":1,"num_attention_heads":4,"vocab_size":256,"vision_config":{}}`,
		`{"model_type":"whisper","d_model":64,"encoder_layers":1,"decoder_layers":1,"encoder_attention_heads":4,"decoder_attention_heads":4,"encoder_ffn_dim":128,"decoder_ffn_dim":128,"vocab_size":256}`,
		`{"model_type":"codet5p","decoder":{"n_embd":64,"n_head":4,"n_layer":2,"vocab_size":256,"add_cross_attention":true},"encoder":{"n_embd":32,"n_head":4,"n_layer":1,"vocab_size":256}}`,
		`{"model_type":"t5","d_model":64,"d_ff":128,"d_kv":16,"num_layers":1,"num_heads":4,"vocab_size":256}`,
		`{"model_type":"modernbert","hidden_size":64,"intermediate_size":128,"num_hidden_layers":2,"num_attention_heads":4,"vocab_size":256}`,
		`{"model_type":"clip","text_config":{},"vision_config":{}}`,
		`{"model_type":"dinov2","use_swiglu_ffn":true}`,
		`{"_class_name":"FluxTransformer2DModel","num_attention_heads":2,"num_layers":1,"num_single_layers":1,"attention_head_dim":8}`,
		`{"_class_name":"SD3Transformer2DModel","num_attention_heads":2,"attention_head_dim":8,"caption_projection_dim":16,"num_layers":2,"dual_attention_layers":[0]}`,
		`{"_class_name":"WanTransformer3DModel","num_attention_heads":2,"attention_head_dim":8,"image_dim":8,"added_kv_proj_dim":16,"num_layers":1,"patch_size":[1,2,2]}`,
		`{"_class_name":"ZImageTransformer2DModel","dim":64,"n_heads":4,"n_kv_heads":4,"n_layers":1}`,
		`{"model_type":"stripedhyena","hidden_size":64,"inner_mlp_size":64,"num_layers":2,"num_attention_heads":4,"attn_layer_idxs":[1],"state_size":2,"vocab_size":256}`,
		`{"model_type":"idefics","hidden_size":64,"intermediate_size":64,"num_attention_heads":4,"num_hidden_layers":2,"vocab_size":256,"use_resampler":true,"perceiver_config":{"qk_layer_norms_perceiver":true},"vision_config":{"embed_dim":32}}`,
		`{"model_type":"idefics2","text_config":{},"vision_config":{},"perceiver_config":{"resampler_depth":1}}`,
		`{"model_type":"infimm-zephyr","language":{"model_type":"mistral"},"visual":{"width":64,"layers":1,"patch_size":14,"image_size":28,"head_width":16,"subln":true,"naiveswiglu":true,"embed_dim":8,"mlp_ratio":2.5}}`,
		`{"model_type":"xgenmm","text_config":{"model_type":"phi3"},"vision_encoder_config":{},"vision_tokenizer_config":{"num_vis_tokens":4}}`,
		`{"model_type":"minicpmv","version":2.6,"use_gene_module":true,"gene_config":{"dim_model":32,"dim_feedforward":32,"nheads":4,"n_tokens":9,"context_length":8},"hidden_size":64,"intermediate_size":64,"num_attention_heads":4,"num_hidden_layers":1,"vocab_size":9,"query_num":4,"vision_config":{}}`,
		phi4Multimodal, omni7B, omni30B,
		`{"model_type":"mamba2","hidden_size":64,"num_hidden_layers":2,"vocab_size":256,"a":Infinity,"b":NaN}`,
	} {
		f.Add([]byte(s))
	}
	if dir := os.Getenv("MEMWALL_SHARED"); dir != "" {
		files, err := filepath.Glob(filepath.Join(dir, "data", "configs", "*.json"))
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range files {
			if data, err := os.ReadFile(name); err == nil {
				f.Add(data)
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := ParseConfig(data)
		if err != nil {
			return
		}
		s, err := FromConfig(c)
		if (s == nil) == (err == nil) && err == nil {
			t.Fatal("neither a network nor an error")
		}
		if err != nil {
			return
		}
		for _, s := range []*Spec{s, s.Converted()} {
			if n := s.Model("m").Params(); n <= 0 {
				t.Errorf("%d parameters", n)
			}
		}
	})
}

// TestSizesBeyondCounting: widths that are fine alone and overflow together are refused.
func TestSizesBeyondCounting(t *testing.T) {
	for name, text := range map[string]string{
		"experts": `{"model_type":"mixtral","hidden_size":1048576,"intermediate_size":16777216,"num_hidden_layers":4000,"num_attention_heads":4,"head_dim":64,"vocab_size":256,"num_local_experts":16777216,"num_experts_per_tok":2}`,
		"latents": `{"model_type":"deepseek_v3","hidden_size":64,"intermediate_size":160,"num_hidden_layers":3,"num_attention_heads":4096,"kv_lora_rank":4294967296,"qk_rope_head_dim":8,"qk_nope_head_dim":1000,"v_head_dim":4294967296,"vocab_size":256}`,
		"states":  `{"model_type":"mamba2","hidden_size":64,"num_hidden_layers":2,"vocab_size":256,"n_groups":4294967296,"state_size":4294967296}`,
		"towers":  `{"model_type":"gemma3","vision_config":{"patch_size":4,"image_size":16,"hidden_size":4294967296,"num_hidden_layers":1,"intermediate_size":4294967296,"num_attention_heads":2},"text_config":{"num_hidden_layers":2}}`,
		"patches": `{"model_type":"vit","patch_size":4294967296,"image_size":4294967296}`,
		"ratios":  `{"model_type":"qwen","hidden_size":64,"intermediate_size":64,"num_hidden_layers":1,"num_attention_heads":4,"vocab_size":256,"visual":{"width":4294967296,"patch_size":14,"layers":1,"heads":1,"output_dim":64,"mlp_ratio":1e12}}`,
		"tables":  `{"model_type":"gemma3n","text_config":{"hidden_size":64,"num_hidden_layers":5,"num_attention_heads":4,"vocab_size":256,"intermediate_size":[160],"hidden_size_per_layer_input":4294967296,"vocab_size_per_layer_input":4294967296}}`,
		"streams": `{"model_type":"gemma3n","text_config":{"hidden_size":64,"num_hidden_layers":5,"num_attention_heads":4,"vocab_size":256,"intermediate_size":[160],"altup_num_inputs":4294967296}}`,
	} {
		c, err := ParseConfig([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if s, err := FromConfig(c); err == nil {
			t.Errorf("%s: %d parameters", name, s.Model("m").Params())
		}
	}
}
