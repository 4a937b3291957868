package family_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/model/family"
)

func fromConfig(t *testing.T, text string) *model.Model {
	t.Helper()
	c, err := family.ParseConfig([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	m, err := family.FromConfigModel("m", c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func fromCatalog(t *testing.T, id string) *model.Model {
	t.Helper()
	e, err := catalog.Find(id)
	if err != nil {
		t.Fatal(err)
	}
	return fromConfig(t, string(e.Config))
}

// llama4 is the text model of Llama 4: of Scout with 16 experts in every layer, of Maverick with 128 in every second.
func llama4(experts, step int64) string {
	return fmt.Sprintf(`{"architectures":["Llama4ForCausalLM"],"model_type":"llama4_text","attention_chunk_size":8192,"head_dim":128,"hidden_size":5120,
		"interleave_moe_layer_step":%d,"intermediate_size":8192,"intermediate_size_mlp":16384,"max_position_embeddings":1048576,"num_attention_heads":40,
		"num_experts_per_tok":1,"num_hidden_layers":48,"num_key_value_heads":8,"num_local_experts":%d,"vocab_size":202048}`, step, experts)
}

const (
	ernie300 = `{"architectures":["Ernie4_5_MoeForCausalLM"],"model_type":"ernie4_5_moe","hidden_size":8192,"intermediate_size":28672,"moe_intermediate_size":3584,
		"moe_k":8,"moe_layer_start_index":3,"moe_num_experts":64,"num_attention_heads":64,"num_hidden_layers":54,"num_key_value_heads":8,"num_nextn_predict_layers":1,
		"tie_word_embeddings":false,"vocab_size":103424}`
	oasstReward = `{"architectures":["GPTNeoXRewardModel"],"model_type":"gpt_neox_reward_model","hidden_size":2048,"intermediate_size":8192,"max_position_embeddings":2048,
		"num_attention_heads":16,"num_hidden_layers":24,"tie_word_embeddings":false,"vocab_size":50288}`
	longcat = `{"architectures":["LongcatFlashForCausalLM"],"model_type":"longcat_flash","expert_ffn_hidden_size":2048,"ffn_hidden_size":12288,"hidden_size":6144,
		"kv_lora_rank":512,"moe_topk":12,"n_routed_experts":512,"num_attention_heads":64,"num_layers":28,"num_nextn_predict_layers":1,"q_lora_rank":1536,
		"qk_nope_head_dim":128,"qk_rope_head_dim":64,"v_head_dim":128,"vocab_size":131072,"zero_expert_num":256}`
	plamo8 = `{"architectures":["Plamo2ForCausalLM"],"model_type":"plamo2","attention_window_size":2048,"full_attention_idx":[15],"hidden_size":4096,"intermediate_size":16384,
		"mamba_num_heads":64,"num_attention_heads":32,"num_hidden_layers":32,"num_key_value_heads":4,"vocab_size":100096}`
	falconRW = `{"architectures":["FalconForCausalLM"],"model_type":"falcon","alibi":true,"bias":true,"hidden_size":2048,"multi_query":false,"num_attention_heads":32,
		"num_hidden_layers":24,"parallel_attn":false,"vocab_size":50304}`
	phi2Old = `{"architectures":["MixFormerSequentialForCausalLM"],"model_type":"mixformer-sequential","n_embd":2560,"n_head":32,"n_inner":null,"n_layer":32,"n_positions":2048,
		"tie_word_embeddings":false,"vocab_size":51200}`
)

// plamoLayers are the mixers of PLaMo 2 8B: in_proj, conv, bcdt_proj, dt_proj, its bias, A, D, three norms, out_proj; and
// qkv, o_proj and a weight for every head of queries and keys.
const plamoLayers = 16*(2*4096*8192+4*8192+8192*(256+2*64)+256*64+3*64+256+2*64+8192*4096) + 16*(4096*40*128+4096*4096+36*128)

// TestTextParameters: totals of models that the catalog does not have, without and with layers of prediction. The
// totals of those that it has are rows of validation/rows/parameters.jsonl.
func TestTextParameters(t *testing.T) {
	const tower = 871_932_416 // what the published totals of Scout and Maverick both have beyond their text
	for _, c := range []struct {
		config, source string
		params, mtp    int64
	}{
		{llama4(128, 2), "meta-llama/Llama-4-Maverick-17B-128E-Instruct, safetensors metadata less the tower", 401_583_781_376 - tower, 0},
		{llama4(16, 1), "RedHatAI/Llama-4-Scout-17B-16E-Instruct, safetensors metadata less the tower", 108_641_793_536 - tower, 0},
		{ernie300, "baidu/ERNIE-4.5-300B-A47B-Paddle, safetensors metadata", 299_484_163_264, 300_474_051_776 - 299_484_163_264},
		{oasstReward, "pythia-1.4b less its head and 16 rows of the vocabulary, and a score with a bias", 1_414_647_808 - 50304*2048 - 16*2048 + 2049, 0},
		{falconRW, "tiiuae/falcon-rw-1b: 24 layers of 12 h² + 13 h, a tied embedding and a norm", 24*(12*2048*2048+13*2048) + 50304*2048 + 2*2048, 0},
		{longcat, "meituan-longcat/LongCat-Flash-Chat, safetensors metadata", 560_664_980_480, 561_862_880_256 - 560_664_980_480},
		{plamo8, "pfnet/plamo-2-8b: 16 layers of Mamba, 16 of attention, a tied embedding", plamoLayers + 32*(3*4096*16384+4*4096) + 4096 + 100096*4096, 0},
		{phi2Old, "microsoft/phi-2, safetensors metadata", 2_779_683_840, 0},
	} {
		m := fromConfig(t, c.config)
		if got := m.Totals(); got.Unique != c.params || got.MTP != c.mtp {
			t.Errorf("%s: %d parameters and %d of prediction layers, want %d and %d", c.source, got.Unique, got.MTP, c.params, c.mtp)
		}
	}
}

// TestDeepSeekV4Files: deepseek-ai/DeepSeek-V4-Pro-Base counts 1,600,790,440,862 elements: the parameters with the
// prediction layer, its own embedding and head, a scale for each 128 × 128 block of matrices in FP8, and the tables by
// which three layers choose six experts for each token.
func TestDeepSeekV4Files(t *testing.T) {
	const hidden, vocab = 7168, 129280
	blocks := func(rows, cols int64) int64 { return (rows + 127) / 128 * ((cols + 127) / 128) }
	attention := blocks(1536, hidden) + blocks(65536, 1536) + blocks(512, hidden) + blocks(16384, 4096) + blocks(hidden, 16384)
	scales := 62*(385*3*blocks(3072, hidden)+attention) + 30*blocks(8192, 1536) + 2*blocks(hidden, hidden)
	m := fromCatalog(t, "deepseek-v4-pro").Totals()
	if got := m.Unique + m.MTP + 2*vocab*hidden + scales + 3*6*vocab; got != 1_600_790_440_862 {
		t.Errorf("%d elements", got)
	}
}

// TestActiveParameters: what a token multiplies, as model cards round it. Cards leave embeddings out or count them; the
// bounds hold for both.
func TestActiveParameters(t *testing.T) {
	for id, card := range map[string]float64{
		"dbrx": 36, "phi-3.5-moe": 6.6, "mimo-v2-flash": 15, "minimax-m1-456b": 45.9, "kimi-linear-48b-a3b": 3, "deepseek-v3.2": 37, "deepseek-v4-flash": 13,
		"deepseek-v4-pro": 49, "glm-5": 40, "ernie-4.5-21b-a3b": 3, "ernie-4.5-300b-a47b": 47, "hunyuan-a13b": 13, "step-3.5-flash": 11, "dots.llm1": 14,
		"ling-lite": 2.75, "ling-mini-2.0": 1.4, "k-exaone-236b-a23b": 23, "grok-1": 86, "deepseek-moe-16b": 2.8,
	} {
		m := fromCatalog(t, id)
		with, embeddings := float64(m.ActiveParams())/1e9, float64(m.Totals().Embeddings)/1e9
		if card < (with-embeddings)*0.95 || card > with*1.05 {
			t.Errorf("%s: %.2fB active, %.2fB without embeddings, the card says %gB", id, with, with-embeddings, card)
		}
	}
}

// kept is what one sequence keeps: bytes that each further token adds in 16 bits, elements in windows and chunks, and in
// states.
func kept(m *model.Model) (perToken, windows, states int64) {
	d := m.Decoder()
	for i := range d.Kinds {
		n := d.Counts[i]
		d.Kinds[i].Caches(func(c model.Cache) {
			switch c.Class {
			case model.StateCache:
				states += n * (c.ConvElems + c.StateElems)
			case model.WindowKV, model.ChunkKV:
				windows += n * c.Span * (c.K + c.V)
			default:
				perToken += n * int64(c.TokenBytes(dtype.BF16, dtype.BF16))
			}
		})
	}
	return perToken, windows, states
}

// TestWhatIsKept: caches from the shapes that the model's own description gives.
func TestWhatIsKept(t *testing.T) {
	for id, want := range map[string][3]int64{
		"gpt2":                         {12 * 2 * 768 * 2, 0, 0},
		"starcoder-15b":                {40 * 2 * 128 * 2, 0, 0},    // one key and value for 48 heads
		"falcon-7b":                    {32 * 2 * 64 * 2, 0, 0},     // one for 71
		"falcon-180b":                  {80 * 2 * 8 * 64 * 2, 0, 0}, // 8 for 232
		"chatglm-6b":                   {28 * 2 * 4096 * 2, 0, 0},   // one for each
		"exaone-4.0-32b":               {16 * 2 * 1024 * 2, 48 * 4096 * 2 * 1024, 0},
		"mimo-v2-flash":                {9 * 4 * (192 + 128) * 2, 39 * 128 * 8 * (192 + 128), 0},
		"step-3.5-flash":               {12 * 2 * 1024 * 2, 33 * 512 * 2 * 1024, 0},
		"deepseek-v3.2":                {61 * (576*2 + 132), 0, 0}, // a latent and an index key in each layer
		"glm-5.2":                      {78*576*2 + 21*132, 0, 0},  // one indexer for up to four layers
		"kimi-linear-48b-a3b":          {7 * 576 * 2, 0, 20 * (3*3*4096 + 32*128*128)},
		"minimax-m1-456b":              {10 * 2 * 1024 * 2, 0, 70 * 64 * 128 * 128},
		"lfm2-1.2b":                    {6 * 2 * 512 * 2, 0, 10 * 2 * 2048},
		"bamba-9b":                     {3 * 2 * 1024 * 2, 0, 29 * (3*(8192+2*128) + 8192*128)},
		"falcon-mamba-7b":              {0, 0, 64 * (3*8192 + 8192*16)},
		"phi-mini-moe":                 {0, 32 * 2047 * 2 * 1024, 0},
		"deepseek-v4-flash":            {20*4*2 + 21*(128*2+33), 43 * 128 * 512, 0}, // a row for 128 tokens or for 4, and keys of those
		"llama-3.3-nemotron-super-49b": {49 * 2 * 1024 * 2, 0, 0},
	} {
		perToken, windows, states := kept(fromCatalog(t, id))
		if got := [3]int64{perToken, windows, states}; got != want {
			t.Errorf("%s: %v bytes per token, window elements and state elements, want %v", id, got, want)
		}
	}
}

// TestLayersWithBoth: Falcon-H1 has attention and a scan in every layer, which keep both.
func TestLayersWithBoth(t *testing.T) {
	m := fromConfig(t, `{"model_type":"falcon_h1","head_dim":64,"hidden_size":1024,"intermediate_size":2048,"mamba_d_ssm":1536,"mamba_d_state":128,"mamba_n_groups":1,
		"mamba_n_heads":24,"num_attention_heads":8,"num_hidden_layers":36,"num_key_value_heads":2,"vocab_size":32784,"tie_word_embeddings":false}`)
	perToken, _, states := kept(m)
	if perToken != 36*2*128*2 || states != 36*(3*(1536+256)+1536*128) {
		t.Errorf("%d bytes per token and %d state elements", perToken, states)
	}
	if !m.Traits.Hybrid {
		t.Error("is not a hybrid")
	}
}

// TestSharedKeys: where pairs of layers share keys and values, every second layer caches nothing and has no matrices for
// them.
func TestSharedKeys(t *testing.T) {
	config := func(shares bool) string {
		return fmt.Sprintf(`{"model_type":"hunyuan","hidden_size":1024,"intermediate_size":2048,"num_attention_heads":8,"num_key_value_heads":2,"num_hidden_layers":4,
			"num_experts":1,"moe_topk":1,"use_cla":%v,"cla_share_factor":2,"use_qk_norm":false,"tie_word_embeddings":true,"vocab_size":1000}`, shares)
	}
	all, half := fromConfig(t, config(false)), fromConfig(t, config(true))
	if saved := all.Params() - half.Params(); saved != 2*2*256*1024 {
		t.Errorf("%d parameters less", saved)
	}
	before, _, _ := kept(all)
	if after, _, _ := kept(half); 2*after != before {
		t.Errorf("%d bytes per token, %d without sharing", after, before)
	}
}

// TestTextRefusals: what is not described is refused by the name of its field.
func TestTextRefusals(t *testing.T) {
	for config, field := range map[string]string{
		`{"model_type":"qwen","hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,"intermediate_size":22016,"vocab_size":151936,"visual":{"layers":48}}`:                                                                                "visual",
		`{"architectures":["InternLM2ForCausalLM"],"model_type":"internlmxcomposer2","hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,"intermediate_size":14336,"vocab_size":92544}`:                                                 "max_length",
		`{"model_type":"mimo_v2_flash","hidden_size":64,"num_hidden_layers":2,"vocab_size":256,"hybrid_layer_pattern":[0]}`:                                                                                                                            "hybrid_layer_pattern",
		`{"model_type":"nemotron-nas","hidden_size":64,"num_hidden_layers":2,"num_attention_heads":4,"vocab_size":256,"block_configs":[]}`:                                                                                                             "block_configs",
		`{"model_type":"deepseek_v4","hc_mult":4,"hidden_size":64,"num_hidden_layers":2,"num_attention_heads":4,"vocab_size":256,"compress_ratios":[0]}`:                                                                                               "compress_ratios",
		`{"model_type":"step3p5","moe_layers_enum":"3,x","num_experts":4,"num_experts_per_tok":2,"moe_intermediate_size":8,"hidden_size":64,"num_hidden_layers":4,"num_attention_heads":4,"vocab_size":256,"intermediate_size":64,"sliding_window":8}`: "moe_layers_enum",
	} {
		c, err := family.ParseConfig([]byte(config))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := family.FromConfig(c); err == nil || !strings.HasPrefix(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// TestRWKV7: table 1 of arXiv:2503.14456, and the state of each head beside two rows of the token before.
func TestRWKV7(t *testing.T) {
	for _, c := range []struct{ hidden, layers, decay, rate, value, gate, want int64 }{
		{768, 12, 64, 64, 32, 128, 191_034_624},
		{1024, 24, 64, 64, 32, 128, 450_767_872},
		{2048, 24, 96, 96, 64, 256, 1_527_404_544},
		{2560, 32, 96, 96, 64, 320, 2_947_735_040},
	} {
		m := fromConfig(t, fmt.Sprintf(`{"architectures":["RWKV7ForCausalLM"],"model_type":"rwkv7","hidden_size":%d,"num_hidden_layers":%d,"head_dim":64,
			"decay_low_rank_dim":%d,"a_low_rank_dim":%d,"v_low_rank_dim":%d,"gate_low_rank_dim":%d,"hidden_ratio":4.0,"tie_word_embeddings":false,"vocab_size":65536}`,
			c.hidden, c.layers, c.decay, c.rate, c.value, c.gate))
		if got := m.Params(); got != c.want {
			t.Errorf("hidden size %d: %d parameters, want %d", c.hidden, got, c.want)
		}
		if perToken, _, states := kept(m); perToken != 0 || states != c.layers*(64*c.hidden+2*c.hidden) {
			t.Errorf("hidden size %d: %d bytes per token, %d state elements", c.hidden, perToken, states)
		}
	}
}
