package family

import (
	"strings"
	"testing"

	"github.com/memwall/memwall/model"
)

func readModel(t *testing.T, config string) *model.Model {
	t.Helper()
	c, err := ParseConfig([]byte(config))
	if err != nil {
		t.Fatal(err)
	}
	m, err := FromConfigModel("m", c)
	if err != nil {
		t.Fatalf("%.60s…: %v", config, err)
	}
	return m
}

// TestTowerParameters: totals of published checkpoints, each of its safetensors metadata, where the figures are few
// enough to stand here; the catalog has the others and validation/rows/parameters.jsonl their totals.
func TestTowerParameters(t *testing.T) {
	for name, c := range map[string]struct {
		config string
		want   int64
	}{
		"Qwen/Qwen2-VL-2B": {`{"model_type":"qwen2_vl","hidden_size":1536,"intermediate_size":8960,"num_attention_heads":12,"num_hidden_layers":28,"num_key_value_heads":2,
			"tie_word_embeddings":true,"vocab_size":151936,"vision_config":{}}`, 2_208_985_600},
		"OpenGVLab/InternVL3-1B": {`{"model_type":"internvl_chat","llm_config":{"model_type":"qwen2","hidden_size":896,"intermediate_size":4864,"num_attention_heads":14,"num_hidden_layers":24,
			"num_key_value_heads":2,"vocab_size":151674,"tie_word_embeddings":false},"vision_config":{"hidden_size":1024,"image_size":448,"intermediate_size":4096,"num_attention_heads":16,
			"num_hidden_layers":24,"patch_size":14,"qkv_bias":true}}`, 938_193_024},
		"HuggingFaceTB/SmolVLM-256M-Instruct": {`{"model_type":"idefics3","scale_factor":4,"tie_word_embeddings":false,"text_config":{"model_type":"llama","hidden_size":576,"intermediate_size":1536,
			"num_hidden_layers":30,"num_attention_heads":9,"num_key_value_heads":3,"vocab_size":49280},"vision_config":{"hidden_size":768,"image_size":512,"intermediate_size":3072,
			"num_attention_heads":12,"num_hidden_layers":12,"patch_size":16}}`, 256_484_928},
		"google/paligemma-3b-mix-224": {`{"model_type":"paligemma","projection_dim":2048,"text_config":{"model_type":"gemma","hidden_size":2048,"intermediate_size":16384,"num_hidden_layers":18,
			"num_attention_heads":8,"num_key_value_heads":1,"vocab_size":257216},"vision_config":{"hidden_size":1152,"intermediate_size":4304,"num_hidden_layers":27,"num_attention_heads":16,
			"patch_size":14,"image_size":224}}`, 2_923_466_480},
		"llava-hf/llava-v1.6-vicuna-7b-hf": {`{"architectures":["LlavaNextForConditionalGeneration"],"text_config":{"model_type":"llama","vocab_size":32064},"vision_config":{"model_type":"clip_vision_model",
			"hidden_size":1024,"image_size":336,"intermediate_size":4096,"num_attention_heads":16,"num_hidden_layers":24,"patch_size":14}}`, 7_063_431_168},
		"liuhaotian/llava-v1.6-vicuna-7b": {`{"architectures":["LlavaLlamaForCausalLM"],"model_type":"llava","hidden_size":4096,"intermediate_size":11008,"num_attention_heads":32,"num_hidden_layers":32,
			"vocab_size":32000,"mm_projector_type":"mlp2x_gelu","mm_vision_tower":"openai/clip-vit-large-patch14-336","mm_patch_merge_type":"spatial_unpad"}`, 7_062_906_880},
		"sentence-transformers/distilbert-base-nli-mean-tokens": {`{"model_type":"distilbert","dim":768,"hidden_dim":3072,"n_layers":6,"n_heads":12,"vocab_size":30522,"max_position_embeddings":512}`, 66_362_880},
		"ibm-granite/granite-embedding-english-r2": {`{"model_type":"modernbert","hidden_size":768,"intermediate_size":1152,"num_hidden_layers":22,"num_attention_heads":12,"vocab_size":50368,
			"max_position_embeddings":8192}`, 149_014_272},
		"facebook/bart-base": {`{"architectures":["BartModel"],"d_model":768,"encoder_layers":6,"decoder_layers":6,"encoder_attention_heads":12,"decoder_attention_heads":12,"encoder_ffn_dim":3072,
			"decoder_ffn_dim":3072,"vocab_size":50265,"max_position_embeddings":1024}`, 139_420_416},
	} {
		if got := readModel(t, c.config).Params(); got != c.want {
			t.Errorf("%s: %d parameters, want %d", name, got, c.want)
		}
	}
}

const whisperBase = `{"architectures":["WhisperForConditionalGeneration"],"d_model":512,"encoder_layers":6,"decoder_layers":6,"encoder_attention_heads":8,"decoder_attention_heads":8,
	"encoder_ffn_dim":2048,"decoder_ffn_dim":2048,"vocab_size":51865,"num_mel_bins":80,"max_source_positions":1500,"max_target_positions":448}`

// TestCrossCache: a decoder keeps keys and values of its own tokens and, once, of the source; its encoder nothing.
func TestCrossCache(t *testing.T) {
	for name, c := range map[string]struct {
		config         string
		source, self   int64
		k, layers, own int64
	}{
		"whisper": {whisperBase, 1500, 6, 512, 6, 448},
		"t5":      {`{"model_type":"t5","d_model":512,"d_ff":2048,"d_kv":64,"num_layers":6,"num_heads":8,"vocab_size":32128,"n_positions":512}`, 0, 6, 512, 6, 512},
	} {
		m := readModel(t, c.config)
		got := map[model.CacheClass]int64{}
		m.Decoder().Each(func(k *model.Kind, n int64) {
			k.Caches(func(x model.Cache) {
				got[x.Class] += n
				if x.K != c.k || x.V != c.k || x.Class == model.CrossKV && x.Source != c.source {
					t.Errorf("%s: %+v", name, x)
				}
			})
		})
		if got[model.FullKV] != c.self || got[model.CrossKV] != c.layers || m.Context != c.own {
			t.Errorf("%s: caches %v, context %d", name, got, m.Context)
		}
		m.Part(PartEncoder).Each(func(k *model.Kind, _ int64) {
			k.Caches(func(x model.Cache) { t.Errorf("%s: the encoder keeps %+v", name, x) })
		})
	}
}

// TestCrossLayers: Llama 3.2 Vision attends to its tiles in the layers that its config lists, and in them alone.
func TestCrossLayers(t *testing.T) {
	m := readModel(t, `{"model_type":"mllama","text_config":{"cross_attention_layers":[1,3],"hidden_size":64,"intermediate_size":128,"num_hidden_layers":5,"num_attention_heads":4,"vocab_size":256},
		"vision_config":{"attention_heads":4,"hidden_size":32,"image_size":28,"intermediate_size":64,"max_num_tiles":4,"num_hidden_layers":2,"num_global_layers":1,"patch_size":14,"vision_output_dim":96}}`)
	d := m.Decoder()
	for l, want := range []string{"attention", "cross-attention", "attention", "cross-attention", "attention"} {
		if got := d.Kinds[d.Layers[l]].Name; got != want {
			t.Errorf("layer %d is %s, want %s", l, got, want)
		}
	}
	d.Kinds[d.Layers[1]].Caches(func(x model.Cache) {
		if x.Class != model.CrossKV || x.Source != 4*(2*2+1) {
			t.Errorf("%+v", x)
		}
	})
	if rows := d.Pre.Ops[0].W[0].Rows(); rows != 256+8 {
		t.Errorf("the embedding has %d rows", rows)
	}
}

// TestEncoders: what reads whole texts or images keeps nothing, has one part first, and no head unless its class says.
func TestEncoders(t *testing.T) {
	const bert = `"hidden_size":64,"intermediate_size":128,"num_hidden_layers":2,"num_attention_heads":4,"vocab_size":256,"max_position_embeddings":32,"type_vocab_size":2}`
	for _, c := range []struct {
		config, part string
		head         bool
	}{
		{`{"architectures":["BertModel"],` + bert, PartEncoder, false},
		{`{"architectures":["BertForMaskedLM"],` + bert, PartEncoder, true},
		{`{"architectures":["XLMRobertaForSequenceClassification"],` + bert, PartEncoder, false},
		{`{"model_type":"t5encoder","d_model":64,"d_ff":128,"d_kv":16,"num_layers":2,"num_heads":4,"vocab_size":256}`, PartEncoder, false},
		{`{"model_type":"clip_vision_model","hidden_size":64,"num_attention_heads":4}`, PartVision, false},
		{`{"model_type":"dinov2"}`, PartVision, false},
		{`{"model_type":"siglip","text_config":{},"vision_config":{}}`, PartEncoder, false},
	} {
		m := readModel(t, c.config)
		head := false
		for _, o := range m.Parts[0].Post.Ops {
			head = head || o.Kind == model.Head
		}
		if m.Remembers() || m.Parts[0].Name != c.part || head != c.head || m.Traits.Multimodal {
			t.Errorf("%.60s: remembers %v, first part %s, head %v, %+v", c.config, m.Remembers(), m.Parts[0].Name, head, m.Traits)
		}
	}
	if m := readModel(t, whisperBase); !m.Remembers() {
		t.Error("a decoder that remembers nothing")
	}
}

// TestHeadsOfEncoders: a classifier's width is the number of its labels.
func TestHeadsOfEncoders(t *testing.T) {
	const dims = `"hidden_size":64,"intermediate_size":128,"num_hidden_layers":1,"num_attention_heads":4,"vocab_size":256,"max_position_embeddings":32,"type_vocab_size":1`
	bare := readModel(t, `{"architectures":["RobertaModel"],`+dims+`}`).Params() - (64*64 + 64) // its pooler
	for config, more := range map[string]int64{
		`"architectures":["RobertaForSequenceClassification"],"id2label":{"0":"a","1":"b","2":"c"}`: 64*64 + 64 + 3*64 + 3,
		`"architectures":["RobertaForSequenceClassification"],"num_labels":1`:                       64*64 + 64 + 64 + 1,
		`"architectures":["RobertaForTokenClassification"]`:                                         2*64 + 2,
		`"architectures":["RobertaForMaskedLM"]`:                                                    64*64 + 64 + 2*64 + 256,
	} {
		if got := readModel(t, `{`+config+`,`+dims+`}`).Params(); got != bare+more {
			t.Errorf("%s: %d more than the encoder, want %d", config, got-bare, more)
		}
	}
}

// TestConvertedParts: a GGUF file has the text model alone; the encoder of an encoder-decoder belongs to it, and a model
// that is a tower stays one.
func TestConvertedParts(t *testing.T) {
	for config, want := range map[string]string{
		whisperBase: "decoder encoder",
		`{"model_type":"llava","text_config":{"model_type":"llama"},"vision_config":{"model_type":"clip_vision_model"}}`: "decoder",
		`{"model_type":"vit"}`: "vision",
	} {
		c, err := ParseConfig([]byte(config))
		if err != nil {
			t.Fatal(err)
		}
		s, err := FromConfig(c)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, p := range s.Converted().Model("m").Parts {
			names = append(names, p.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%.40s: %s, want %s", config, got, want)
		}
	}
}

// TestTowerRefusals: what is not described is refused by the field that says so.
func TestTowerRefusals(t *testing.T) {
	const text = `"text_config":{"model_type":"llama"}`
	for config, field := range map[string]string{
		`{"architectures":["InfiMMZephyrModel"],"language":{"model_type":"mistral"},"visual":{"width":64,"patch_size":14,"image_size":28,"head_width":16}}`:                                   "visual.subln",
		`{"architectures":["XGenMMModelForConditionalGeneration"],"text_config":{"model_type":"phi3"},"vision_encoder_config":{"model_name":"someone/encoder"},"vision_tokenizer_config":{}}`: "vision_encoder_config.model_name",
		`{"architectures":["Qwen2_5OmniModel"]}`:                     "thinker_config",
		`{"architectures":["Qwen3OmniMoeForConditionalGeneration"]}`: "thinker_config",
		`{"architectures":["KimiK3ForConditionalGeneration"]}`:       "vision_config",
		`{"model_type":"minicpmv","version":2.6,"use_gene_module":true,"hidden_size":64,"intermediate_size":64,"num_attention_heads":4,"num_hidden_layers":1,"vocab_size":9,"query_num":4,"vision_config":{}}`: "gene_config",
		`{"model_type":"llava","text_config":{"model_type":"made_up"}}`:                                                "text_config.model_type",
		`{"model_type":"llava",` + text + `}`:                                                                          "vision_config",
		`{"model_type":"llava",` + text + `,"vision_config":{"model_type":"made_up"}}`:                                 "vision_config.model_type",
		`{"model_type":"internvl_chat"}`:                                                                               "llm_config",
		`{"model_type":"llava_llama","mm_vision_tower":"someone/encoder","hidden_size":64,"vocab_size":9}`:             "num_attention_heads",
		`{"model_type":"kimi_k25","text_config":{"model_type":"llama"},"vision_config":{"mm_projector_type":"other"}}`: "vision_config.mm_projector_type",
	} {
		c, err := ParseConfig([]byte(config))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := FromConfig(c); err == nil || !strings.HasPrefix(err.Error(), field) {
			t.Errorf("%.70s: %v, want %s", config, err, field)
		}
	}
}

// TestImageTokens: tokens of one image where the config fixes them.
func TestImageTokens(t *testing.T) {
	for config, want := range map[string]int64{
		`{"model_type":"llava","text_config":{"model_type":"llama"},"vision_config":{"model_type":"clip_vision_model","image_size":336,"patch_size":14}}`: 576,
		`{"model_type":"internvl_chat","llm_config":{"model_type":"qwen2"},"vision_config":{"image_size":448,"patch_size":14,"hidden_size":64,"intermediate_size":64,
			"num_attention_heads":4,"num_hidden_layers":1}}`: 0,
		`{"model_type":"paligemma","text_config":{"model_type":"gemma"},"vision_config":{"image_size":224,"patch_size":14}}`:                                  256,
		`{"model_type":"qwen2_vl","hidden_size":64,"intermediate_size":64,"num_hidden_layers":1,"num_attention_heads":4,"vocab_size":256,"vision_config":{}}`: 0,
	} {
		if m := readModel(t, config); m.Traits.ImageTokens != want || !m.Traits.Multimodal {
			t.Errorf("%.40s: %+v, want %d", config, m.Traits, want)
		}
	}
}
