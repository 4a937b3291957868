package family

import "testing"

// TestNewerParameters: totals of published checkpoints, as the hub counts their stored elements. A head that is tied is stored all the same
// in ERNIE's file, and PaddleOCR-VL's holds what it never uses: a table of 32,768 positions and a pooling head.
func TestNewerParameters(t *testing.T) {
	const siglip = `"hidden_size":1152,"intermediate_size":4304,"num_hidden_layers":27,"num_attention_heads":16`
	const molmo2Text = `{"architectures":["Molmo2ForConditionalGeneration"],"tie_word_embeddings":false,"vit_config":{` + siglip + `,
		"image_patch_size":14,"image_num_pos":729},
		"text_config":{"vocab_size":151936,"additional_vocab_size":128,"qk_norm_type":"qwen3","num_hidden_layers":36,
			"num_attention_heads":32,"num_key_value_heads":8,"head_dim":128,`
	for name, c := range map[string]struct {
		config string
		more   int64 // stored and no part of the network
		want   int64
	}{
		"baidu/ERNIE-4.5-VL-28B-A3B-Thinking": {`{"architectures":["Ernie4_5_VLMoeForConditionalGeneration"],"hidden_size":2560,
			"intermediate_size":12288,"num_hidden_layers":28,"num_attention_heads":20,
			"num_key_value_heads":4,"vocab_size":103424,"moe_num_experts":[64,64],"moe_intermediate_size":[1536,512],"moe_k":6,
			"moe_num_shared_experts":2,"moe_layer_start_index":[1,1],
			"moe_layer_end_index":[29,28],"tie_word_embeddings":true,"vision_config":{"depth":32,"hidden_size":1280,"num_heads":16,
			"patch_size":14,"mlp_ratio":4}}`, 103424 * 2560, 29_664_059_776},
		"PaddlePaddle/PaddleOCR-VL": {`{"architectures":["PaddleOCRVLForConditionalGeneration"],"hidden_size":1024,
			"intermediate_size":3072,"num_hidden_layers":18,"num_attention_heads":16,
			"num_key_value_heads":2,"head_dim":128,"vocab_size":103424,"tie_word_embeddings":false,"vision_config":{` + siglip + `,
			"image_size":384,"patch_size":14}}`, 32768*1152 + 15_238_352, 958_588_736},
		"tencent/HunyuanOCR": {`{"architectures":["HunYuanVLForConditionalGeneration"],"hidden_size":1024,"intermediate_size":3584,
			"num_hidden_layers":24,"num_attention_heads":16,"num_key_value_heads":8,
			"head_dim":128,"vocab_size":120818,"tie_word_embeddings":true,"vision_config":{` + siglip + `,"patch_size":16,
			"max_image_size":2048}}`, 0, 996_208_112},
		"allenai/Molmo2-8B": {molmo2Text + `"hidden_size":4096,"intermediate_size":12288},
			"adapter_config":{"intermediate_size":12288}}`, 0, 8_661_703_120},
		"allenai/Molmo2-4B": {molmo2Text + `"hidden_size":2560,"intermediate_size":9728},
			"adapter_config":{"intermediate_size":9728}}`, 0, 4_850_869_200},
		"microsoft/bitnet-b1.58-2B-4T-bf16": {`{"architectures":["BitNetForCausalLM"],"hidden_size":2560,"intermediate_size":6912,
			"num_hidden_layers":30,"num_attention_heads":20,"num_key_value_heads":5,
			"vocab_size":128256,"hidden_act":"relu2","tie_word_embeddings":true}`, 0, 2_412_820_480},
	} {
		if got := readModel(t, c.config).Params() + c.more; got != c.want {
			t.Errorf("%s: %d parameters, published %d: %+d", name, got, c.want, got-c.want)
		}
	}
}

// TestNewerParts: parts that are published by themselves.
func TestNewerParts(t *testing.T) {
	exaone := readModel(t, `{"architectures":["Exaone4_5_ForConditionalGeneration"],"text_config":{"model_type":"exaone4",
		"hidden_size":5120,"intermediate_size":27392,"num_hidden_layers":64,
		"num_attention_heads":40,"num_key_value_heads":8,"vocab_size":153600,"sliding_window":4096,"sliding_window_pattern":4,
			"num_nextn_predict_layers":1},
		"vision_config":{"depth":28,"hidden_size":2048,"intermediate_size":5120,"num_heads":32,"num_key_value_heads":8,
			"out_hidden_size":5120,"patch_size":14}}`)
	if got := exaone.Totals(); got.Unique+got.MTP != 34_350_097_664 {
		t.Errorf("EXAONE 4.5 33B: %d and %d of prediction, published 34,350,097,664", got.Unique, got.MTP)
	}
	asr := readModel(t, `{"architectures":["Qwen3ASRForConditionalGeneration"],"thinker_config":{"audio_config":{"d_model":896,
		"encoder_layers":18,"encoder_attention_heads":14,"encoder_ffn_dim":3584,
		"output_dim":1024},"text_config":{"hidden_size":1024,"intermediate_size":3072,"num_hidden_layers":28,"num_attention_heads":16,
			"num_key_value_heads":8,"head_dim":128,"vocab_size":151936,
		"tie_word_embeddings":true}}}`)
	if got := asr.Totals(); got.Unique+got.TiedHead < 937_500_000 || got.Unique+got.TiedHead > 938_500_000 {
		t.Errorf("Qwen3-ASR 0.6B: %d and %d of a tied head, published 938M", got.Unique, got.TiedHead)
	}
	// the sum of what class OlmoHybridForCausalLM allocates at its defaults, which are those of allenai/Olmo-Hybrid-7B
	olmo := readModel(t, `{"architectures":["OlmoHybridForCausalLM"],"hidden_size":3840,"intermediate_size":11008,"num_hidden_layers":32,
		"num_attention_heads":30,"vocab_size":100352}`)
	if got, want := olmo.Params(), int64(7_430_870_688); got != want {
		t.Errorf("OLMo Hybrid 7B: %d parameters, its class has %d", got, want)
	}
}

// TestGLMNext: parts of zai-org/GLM-5.3-Flash by the shapes in its 62 headers; 321.32 billion in all.
func TestGLMNext(t *testing.T) {
	m := readModel(t, `{"architectures":["Glm5NextForConditionalGeneration"],"text_config":{"hidden_size":4096,"intermediate_size":12288,"num_hidden_layers":45,
		"num_attention_heads":64,"vocab_size":154880,"q_lora_rank":1536,"kv_lora_rank":512,"qk_nope_head_dim":256,"qk_rope_head_dim":0,"v_head_dim":256,
		"index_n_heads":32,"index_head_dim":128,"index_topk":2048,"index_kpool":4,"hc_mult":4,"linear_attn_config":{"num_heads":64,"head_dim":128},
		"n_routed_experts":288,"n_shared_experts":1,"num_experts_per_tok":8,"moe_intermediate_size":2048,"first_k_dense_replace":3,
		"num_nextn_predict_layers":1,"tie_word_embeddings":false},"vision_config":{"attention_bias":true,"depth":24,"hidden_size":1024,
		"intermediate_size":4096,"num_heads":16,"out_hidden_size":4096,"projection_intermediate_size":10240}}`)
	all := m.Totals()
	if got := all.Unique + all.MTP; got < 321_320_000_000 || got > 321_326_000_000 {
		t.Errorf("%d parameters, counted are 321.32 billion", got)
	}
	for _, p := range m.Parts {
		if p.Name == PartVision && p.Params() != 563_627_008 {
			t.Errorf("the encoder has %d parameters, its 347 tensors hold 563,627,008", p.Params())
		}
	}
}

// TestImageExperts: a step of text reads none of the experts for tokens of images.
func TestImageExperts(t *testing.T) {
	count := func(widths string) (all, active int64) {
		m := readModel(t, `{"architectures":["Ernie4_5_VLMoeForConditionalGeneration"],"hidden_size":64,"intermediate_size":128,
			"num_hidden_layers":3,"num_attention_heads":4,"num_key_value_heads":2,
			"vocab_size":256,"moe_num_experts":8,"moe_intermediate_size":`+widths+`,"moe_k":2,"vision_config":{"depth":1,"hidden_size":32,
			"num_heads":2}}`)
		return m.Params(), m.ActiveParams()
	}
	one, oneActive := count("[32]")
	both, bothActive := count("[32,16]")
	if want := int64(2 * (8*3*64*16 + 8*64 + 8)); both-one != want || bothActive != oneActive {
		t.Errorf("experts of images add %d parameters, %d of them active; want %d and none", both-one, bothActive-oneActive, want)
	}
}

// TestPublishedRounded: networks whose makers give their size in round figures: Snowflake Arctic 480B with 17B active (model card),
// FLUX.2 dev 32B and klein 4B (black-forest-labs).
func TestPublishedRounded(t *testing.T) {
	const flux = `{"_class_name":"Flux2Transformer2DModel","attention_head_dim":128,"in_channels":128,`
	for name, c := range map[string]struct {
		config    string
		low, high int64
	}{
		"Snowflake Arctic": {`{"architectures":["ArcticForCausalLM"],"hidden_size":7168,"intermediate_size":4864,"max_position_embeddings":4096,
			"num_attention_heads":56,"num_hidden_layers":35,"num_key_value_heads":8,"num_local_experts":128,"vocab_size":32000}`, 478e9, 482e9},
		"FLUX.2 dev":      {flux + `"joint_attention_dim":15360,"num_attention_heads":48,"num_layers":8,"num_single_layers":48}`, 32e9, 32.5e9},
		"FLUX.2 klein 4B": {flux + `"joint_attention_dim":7680,"num_attention_heads":24,"num_layers":5,"num_single_layers":20}`, 3.8e9, 4.1e9},
	} {
		if got := readModel(t, c.config).Params(); got < c.low || got > c.high {
			t.Errorf("%s: %d parameters, published %d to %d", name, got, c.low, c.high)
		}
	}
}

// TestArcticSteps: a token runs through two experts and the dense MLP of each layer.
func TestArcticSteps(t *testing.T) {
	m := readModel(t, `{"architectures":["ArcticForCausalLM"],"hidden_size":64,"intermediate_size":32,"num_attention_heads":4,
		"num_hidden_layers":2,"num_key_value_heads":2,"num_local_experts":8,"vocab_size":100}`)
	const experts, dense = 3 * 64 * 32, 3 * 64 * 64
	if got := m.Params() - m.ActiveParams(); got != 2*6*experts || dense == experts {
		t.Errorf("%d parameters rest in a step, want those of six experts a layer, %d", got, 2*6*experts)
	}
}
