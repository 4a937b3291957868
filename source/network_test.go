package source

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/format/gguf/gguftest"
	"github.com/memwall/memwall/format/safetensors/safetensorstest"
)

// network is a small model written down three times: as a config.json, as the tensors of hub files and as
// a GGUF file, each as its own tools write it.
type network struct {
	name   string
	config string
	hub    string // a line: name, then the shape, outermost first; {0-3} and {0,2} stand for several
	arch   string
	meta   map[string]gguftest.Value
	gguf   string // likewise, dimensions outermost first; vectors are stored in F32
	f32    string // matrices that are stored in F32 all the same
}

// tensorLine is a tensor of such a text.
type tensorLine struct {
	name  string
	shape []int64
}

func tensorLines(text string) (out []tensorLine) {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		var shape []int64
		for _, w := range words[1:] {
			n, err := strconv.ParseInt(w, 10, 64)
			if err != nil {
				panic(line)
			}
			shape = append(shape, n)
		}
		for _, name := range expand(words[0]) {
			out = append(out, tensorLine{name, shape})
		}
	}
	return out
}

// expand replaces {0-2} and {0,2} by their numbers.
func expand(name string) []string {
	before, rest, ok := strings.Cut(name, "{")
	if !ok {
		return []string{name}
	}
	list, after, _ := strings.Cut(rest, "}")
	var out []string
	for _, n := range numbers(list) {
		out = append(out, expand(before+n+after)...)
	}
	return out
}

func numbers(list string) (out []string) {
	from, to, isRange := strings.Cut(list, "-")
	if !isRange {
		return strings.Split(list, ",")
	}
	a, _ := strconv.Atoi(from)
	b, _ := strconv.Atoi(to)
	for i := a; i <= b; i++ {
		out = append(out, strconv.Itoa(i))
	}
	return out
}

func u(n int64) gguftest.Value { return gguftest.U32(n) }

var networks = []network{
	{
		name: "llama",
		config: `{"architectures":["LlamaForCausalLM"],"model_type":"llama","hidden_size":64,"intermediate_size":160,"num_hidden_layers":2,"num_attention_heads":4,
			"num_key_value_heads":2,"vocab_size":256,"max_position_embeddings":512,"tie_word_embeddings":false,"torch_dtype":"bfloat16"}`,
		hub: `model.embed_tokens.weight 256 64
			model.layers.{0-1}.input_layernorm.weight 64
			model.layers.{0-1}.self_attn.q_proj.weight 64 64
			model.layers.{0-1}.self_attn.k_proj.weight 32 64
			model.layers.{0-1}.self_attn.v_proj.weight 32 64
			model.layers.{0-1}.self_attn.o_proj.weight 64 64
			model.layers.{0-1}.post_attention_layernorm.weight 64
			model.layers.{0-1}.mlp.gate_proj.weight 160 64
			model.layers.{0-1}.mlp.up_proj.weight 160 64
			model.layers.{0-1}.mlp.down_proj.weight 64 160
			model.norm.weight 64
			lm_head.weight 256 64`,
		arch: "llama",
		meta: map[string]gguftest.Value{"embedding_length": u(64), "block_count": u(2), "feed_forward_length": u(160), "context_length": u(512), "attention.head_count": u(4), "attention.head_count_kv": u(2)},
		gguf: `token_embd.weight 256 64
			blk.{0-1}.attn_norm.weight 64
			blk.{0-1}.attn_q.weight 64 64
			blk.{0-1}.attn_k.weight 32 64
			blk.{0-1}.attn_v.weight 32 64
			blk.{0-1}.attn_output.weight 64 64
			blk.{0-1}.ffn_norm.weight 64
			blk.{0-1}.ffn_gate.weight 160 64
			blk.{0-1}.ffn_up.weight 160 64
			blk.{0-1}.ffn_down.weight 64 160
			output_norm.weight 64
			output.weight 256 64`,
	},
	{
		name: "mixtral",
		config: `{"architectures":["MixtralForCausalLM"],"model_type":"mixtral","hidden_size":64,"intermediate_size":96,"num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,
			"num_local_experts":4,"num_experts_per_tok":2,"vocab_size":256,"max_position_embeddings":512,"tie_word_embeddings":false,"torch_dtype":"bfloat16"}`,
		hub: `model.embed_tokens.weight 256 64
			model.layers.{0-1}.input_layernorm.weight 64
			model.layers.{0-1}.self_attn.q_proj.weight 64 64
			model.layers.{0-1}.self_attn.{k,v}_proj.weight 32 64
			model.layers.{0-1}.self_attn.o_proj.weight 64 64
			model.layers.{0-1}.post_attention_layernorm.weight 64
			model.layers.{0-1}.block_sparse_moe.gate.weight 4 64
			model.layers.{0-1}.block_sparse_moe.experts.{0-3}.w{1,3}.weight 96 64
			model.layers.{0-1}.block_sparse_moe.experts.{0-3}.w2.weight 64 96
			model.norm.weight 64
			lm_head.weight 256 64`,
		arch: "llama",
		meta: map[string]gguftest.Value{"embedding_length": u(64), "block_count": u(2), "feed_forward_length": u(96), "context_length": u(512), "attention.head_count": u(4), "attention.head_count_kv": u(2),
			"expert_count": u(4), "expert_used_count": u(2)},
		gguf: `token_embd.weight 256 64
			blk.{0-1}.attn_norm.weight 64
			blk.{0-1}.attn_q.weight 64 64
			blk.{0-1}.attn_{k,v}.weight 32 64
			blk.{0-1}.attn_output.weight 64 64
			blk.{0-1}.ffn_norm.weight 64
			blk.{0-1}.ffn_gate_inp.weight 4 64
			blk.{0-1}.ffn_{gate,up}_exps.weight 4 96 64
			blk.{0-1}.ffn_down_exps.weight 4 64 96
			output_norm.weight 64
			output.weight 256 64`,
		f32: "ffn_gate_inp",
	},
	{
		name: "deepseek",
		config: `{"architectures":["DeepseekV3ForCausalLM"],"model_type":"deepseek_v3","hidden_size":64,"intermediate_size":160,"moe_intermediate_size":32,"num_hidden_layers":3,"num_attention_heads":4,
			"n_routed_experts":4,"num_experts_per_tok":2,"n_shared_experts":1,"first_k_dense_replace":1,"q_lora_rank":48,"kv_lora_rank":32,"qk_rope_head_dim":8,"qk_nope_head_dim":16,"v_head_dim":16,
			"scoring_func":"sigmoid","topk_method":"noaux_tc","norm_topk_prob":true,"routed_scaling_factor":2.5,"vocab_size":256,"max_position_embeddings":512,"torch_dtype":"bfloat16"}`,
		hub: `model.embed_tokens.weight 256 64
			model.layers.{0-2}.input_layernorm.weight 64
			model.layers.{0-2}.self_attn.q_a_proj.weight 48 64
			model.layers.{0-2}.self_attn.q_a_layernorm.weight 48
			model.layers.{0-2}.self_attn.q_b_proj.weight 96 48
			model.layers.{0-2}.self_attn.kv_a_proj_with_mqa.weight 40 64
			model.layers.{0-2}.self_attn.kv_a_layernorm.weight 32
			model.layers.{0-2}.self_attn.kv_b_proj.weight 128 32
			model.layers.{0-2}.self_attn.o_proj.weight 64 64
			model.layers.{0-2}.post_attention_layernorm.weight 64
			model.layers.0.mlp.{gate,up}_proj.weight 160 64
			model.layers.0.mlp.down_proj.weight 64 160
			model.layers.{1-2}.mlp.gate.weight 4 64
			model.layers.{1-2}.mlp.gate.e_score_correction_bias 4
			model.layers.{1-2}.mlp.experts.{0-3}.{gate,up}_proj.weight 32 64
			model.layers.{1-2}.mlp.experts.{0-3}.down_proj.weight 64 32
			model.layers.{1-2}.mlp.shared_experts.{gate,up}_proj.weight 32 64
			model.layers.{1-2}.mlp.shared_experts.down_proj.weight 64 32
			model.norm.weight 64
			lm_head.weight 256 64`,
		arch: "deepseek2",
		meta: map[string]gguftest.Value{"embedding_length": u(64), "block_count": u(3), "feed_forward_length": u(160), "context_length": u(512), "attention.head_count": u(4), "attention.head_count_kv": u(1),
			"attention.q_lora_rank": u(48), "attention.kv_lora_rank": u(32), "attention.key_length": u(40), "attention.value_length": u(32), "attention.key_length_mla": u(24), "attention.value_length_mla": u(16),
			"rope.dimension_count": u(8), "leading_dense_block_count": u(1), "expert_count": u(4), "expert_used_count": u(2), "expert_shared_count": u(1), "expert_feed_forward_length": u(32),
			"expert_gating_func": u(2), "expert_weights_norm": gguftest.Bool(true), "expert_weights_scale": gguftest.F32(2.5)},
		gguf: `token_embd.weight 256 64
			blk.{0-2}.attn_norm.weight 64
			blk.{0-2}.attn_q_a.weight 48 64
			blk.{0-2}.attn_q_a_norm.weight 48
			blk.{0-2}.attn_q_b.weight 96 48
			blk.{0-2}.attn_kv_a_mqa.weight 40 64
			blk.{0-2}.attn_kv_a_norm.weight 32
			blk.{0-2}.attn_k_b.weight 4 32 16
			blk.{0-2}.attn_v_b.weight 4 16 32
			blk.{0-2}.attn_output.weight 64 64
			blk.{0-2}.ffn_norm.weight 64
			blk.0.ffn_{gate,up}.weight 160 64
			blk.0.ffn_down.weight 64 160
			blk.{1-2}.ffn_gate_inp.weight 4 64
			blk.{1-2}.exp_probs_b.bias 4
			blk.{1-2}.ffn_{gate,up}_exps.weight 4 32 64
			blk.{1-2}.ffn_down_exps.weight 4 64 32
			blk.{1-2}.ffn_{gate,up}_shexp.weight 32 64
			blk.{1-2}.ffn_down_shexp.weight 64 32
			output_norm.weight 64
			output.weight 256 64`,
		f32: "ffn_gate_inp",
	},
	{
		name: "qwen3-next",
		config: `{"architectures":["Qwen3NextForCausalLM"],"model_type":"qwen3_next","hidden_size":64,"intermediate_size":160,"moe_intermediate_size":32,"num_hidden_layers":4,"num_attention_heads":4,"num_key_value_heads":2,
			"head_dim":32,"num_experts":4,"num_experts_per_tok":2,"shared_expert_intermediate_size":32,"decoder_sparse_step":1,"mlp_only_layers":[],"full_attention_interval":4,"linear_num_key_heads":2,"linear_num_value_heads":4,
			"linear_key_head_dim":16,"linear_value_head_dim":16,"linear_conv_kernel_dim":4,"num_nextn_predict_layers":0,"vocab_size":256,"max_position_embeddings":512,"torch_dtype":"bfloat16"}`,
		hub: `model.embed_tokens.weight 256 64
			model.layers.{0-3}.input_layernorm.weight 64
			model.layers.{0-2}.linear_attn.in_proj_qkvz.weight 192 64
			model.layers.{0-2}.linear_attn.in_proj_ba.weight 8 64
			model.layers.{0-2}.linear_attn.conv1d.weight 128 1 4
			model.layers.{0-2}.linear_attn.dt_bias 4
			model.layers.{0-2}.linear_attn.A_log 4
			model.layers.{0-2}.linear_attn.norm.weight 16
			model.layers.{0-2}.linear_attn.out_proj.weight 64 64
			model.layers.3.self_attn.q_proj.weight 256 64
			model.layers.3.self_attn.{k,v}_proj.weight 64 64
			model.layers.3.self_attn.o_proj.weight 64 128
			model.layers.3.self_attn.{q,k}_norm.weight 32
			model.layers.{0-3}.post_attention_layernorm.weight 64
			model.layers.{0-3}.mlp.gate.weight 4 64
			model.layers.{0-3}.mlp.experts.{0-3}.{gate,up}_proj.weight 32 64
			model.layers.{0-3}.mlp.experts.{0-3}.down_proj.weight 64 32
			model.layers.{0-3}.mlp.shared_expert.{gate,up}_proj.weight 32 64
			model.layers.{0-3}.mlp.shared_expert.down_proj.weight 64 32
			model.layers.{0-3}.mlp.shared_expert_gate.weight 1 64
			model.norm.weight 64
			lm_head.weight 256 64`,
		arch: "qwen3next",
		meta: map[string]gguftest.Value{"embedding_length": u(64), "block_count": u(4), "feed_forward_length": u(160), "context_length": u(512), "attention.head_count": u(4), "attention.head_count_kv": u(2),
			"attention.key_length": u(32), "attention.value_length": u(32), "expert_count": u(4), "expert_used_count": u(2), "expert_feed_forward_length": u(32), "expert_shared_feed_forward_length": u(32),
			"ssm.conv_kernel": u(4), "ssm.inner_size": u(64), "ssm.state_size": u(16), "ssm.time_step_rank": u(4), "ssm.group_count": u(2)},
		gguf: `token_embd.weight 256 64
			blk.{0-3}.attn_norm.weight 64
			blk.{0-2}.attn_qkv.weight 128 64
			blk.{0-2}.attn_gate.weight 64 64
			blk.{0-2}.ssm_ba.weight 8 64
			blk.{0-2}.ssm_conv1d.weight 128 4
			blk.{0-2}.ssm_dt.bias 4
			blk.{0-2}.ssm_a 4
			blk.{0-2}.ssm_norm.weight 16
			blk.{0-2}.ssm_out.weight 64 64
			blk.3.attn_q.weight 256 64
			blk.3.attn_{k,v}.weight 64 64
			blk.3.attn_output.weight 64 128
			blk.3.attn_{q,k}_norm.weight 32
			blk.{0-3}.post_attention_norm.weight 64
			blk.{0-3}.ffn_gate_inp.weight 4 64
			blk.{0-3}.ffn_{gate,up}_exps.weight 4 32 64
			blk.{0-3}.ffn_down_exps.weight 4 64 32
			blk.{0-3}.ffn_{gate,up}_shexp.weight 32 64
			blk.{0-3}.ffn_down_shexp.weight 64 32
			blk.{0-3}.ffn_gate_inp_shexp.weight 64
			output_norm.weight 64
			output.weight 256 64`,
		f32: "ffn_gate_inp ssm_conv1d",
	},
	{
		name: "gemma3",
		config: `{"architectures":["Gemma3ForConditionalGeneration"],"model_type":"gemma3","torch_dtype":"bfloat16","mm_tokens_per_image":256,
			"text_config":{"model_type":"gemma3_text","hidden_size":64,"intermediate_size":160,"num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,"head_dim":32,"vocab_size":256,"sliding_window":64,
			"sliding_window_pattern":2,"max_position_embeddings":512},
			"vision_config":{"hidden_size":32,"intermediate_size":64,"num_hidden_layers":1,"num_attention_heads":2,"patch_size":4,"image_size":16}}`,
		hub: `language_model.model.embed_tokens.weight 256 64
			language_model.model.layers.{0-1}.{input,post_attention,pre_feedforward,post_feedforward}_layernorm.weight 64
			language_model.model.layers.{0-1}.self_attn.q_proj.weight 128 64
			language_model.model.layers.{0-1}.self_attn.{k,v}_proj.weight 64 64
			language_model.model.layers.{0-1}.self_attn.o_proj.weight 64 128
			language_model.model.layers.{0-1}.self_attn.{q,k}_norm.weight 32
			language_model.model.layers.{0-1}.mlp.{gate,up}_proj.weight 160 64
			language_model.model.layers.{0-1}.mlp.down_proj.weight 64 160
			language_model.model.norm.weight 64
			vision_tower.vision_model.embeddings.patch_embedding.weight 32 3 4 4
			vision_tower.vision_model.embeddings.patch_embedding.bias 32
			vision_tower.vision_model.embeddings.position_embedding.weight 16 32
			vision_tower.vision_model.encoder.layers.0.layer_norm{1,2}.weight 32
			vision_tower.vision_model.encoder.layers.0.layer_norm{1,2}.bias 32
			vision_tower.vision_model.encoder.layers.0.self_attn.{q,k,v,out}_proj.weight 32 32
			vision_tower.vision_model.encoder.layers.0.self_attn.{q,k,v,out}_proj.bias 32
			vision_tower.vision_model.encoder.layers.0.mlp.fc1.weight 64 32
			vision_tower.vision_model.encoder.layers.0.mlp.fc1.bias 64
			vision_tower.vision_model.encoder.layers.0.mlp.fc2.weight 32 64
			vision_tower.vision_model.encoder.layers.0.mlp.fc2.bias 32
			vision_tower.vision_model.post_layernorm.weight 32
			vision_tower.vision_model.post_layernorm.bias 32
			multi_modal_projector.mm_soft_emb_norm.weight 32
			multi_modal_projector.mm_input_projection_weight 32 64`,
		arch: "gemma3",
		meta: map[string]gguftest.Value{"embedding_length": u(64), "block_count": u(2), "feed_forward_length": u(160), "context_length": u(512), "attention.head_count": u(4), "attention.head_count_kv": u(2),
			"attention.key_length": u(32), "attention.value_length": u(32), "attention.sliding_window": u(64), "attention.sliding_window_pattern": u(2)},
		gguf: `token_embd.weight 256 64
			blk.{0-1}.{attn_norm,post_attention_norm,ffn_norm,post_ffw_norm}.weight 64
			blk.{0-1}.attn_q.weight 128 64
			blk.{0-1}.attn_{k,v}.weight 64 64
			blk.{0-1}.attn_output.weight 64 128
			blk.{0-1}.attn_{q,k}_norm.weight 32
			blk.{0-1}.ffn_{gate,up}.weight 160 64
			blk.{0-1}.ffn_down.weight 64 160
			output_norm.weight 64`,
	},
	{
		name: "gpt-oss",
		config: `{"architectures":["GptOssForCausalLM"],"model_type":"gpt_oss","hidden_size":64,"intermediate_size":64,"num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,"head_dim":16,
			"num_local_experts":4,"num_experts_per_tok":2,"sliding_window":128,"vocab_size":256,"max_position_embeddings":512,"tie_word_embeddings":false,"torch_dtype":"bfloat16"}`,
		hub: `model.embed_tokens.weight 256 64
			model.layers.{0-1}.input_layernorm.weight 64
			model.layers.{0-1}.self_attn.q_proj.weight 64 64
			model.layers.{0-1}.self_attn.q_proj.bias 64
			model.layers.{0-1}.self_attn.{k,v}_proj.weight 32 64
			model.layers.{0-1}.self_attn.{k,v}_proj.bias 32
			model.layers.{0-1}.self_attn.o_proj.weight 64 64
			model.layers.{0-1}.self_attn.o_proj.bias 64
			model.layers.{0-1}.self_attn.sinks 4
			model.layers.{0-1}.post_attention_layernorm.weight 64
			model.layers.{0-1}.mlp.router.weight 4 64
			model.layers.{0-1}.mlp.router.bias 4
			model.layers.{0-1}.mlp.experts.gate_up_proj 4 64 128
			model.layers.{0-1}.mlp.experts.gate_up_proj_bias 4 128
			model.layers.{0-1}.mlp.experts.down_proj 4 64 64
			model.layers.{0-1}.mlp.experts.down_proj_bias 4 64
			model.norm.weight 64
			lm_head.weight 256 64`,
		arch: "gpt-oss",
		meta: map[string]gguftest.Value{"embedding_length": u(64), "block_count": u(2), "feed_forward_length": u(64), "expert_feed_forward_length": u(64), "context_length": u(512), "attention.head_count": u(4), "attention.head_count_kv": u(2),
			"attention.key_length": u(16), "attention.value_length": u(16), "attention.sliding_window": u(128), "expert_count": u(4), "expert_used_count": u(2)},
		gguf: `token_embd.weight 256 64
			blk.{0-1}.attn_norm.weight 64
			blk.{0-1}.attn_q.weight 64 64
			blk.{0-1}.attn_q.bias 64
			blk.{0-1}.attn_{k,v}.weight 32 64
			blk.{0-1}.attn_{k,v}.bias 32
			blk.{0-1}.attn_output.weight 64 64
			blk.{0-1}.attn_output.bias 64
			blk.{0-1}.attn_sinks.weight 4
			blk.{0-1}.post_attention_norm.weight 64
			blk.{0-1}.ffn_gate_inp.weight 4 64
			blk.{0-1}.ffn_gate_inp.bias 4
			blk.{0-1}.ffn_{gate,up}_exps.weight 4 64 64
			blk.{0-1}.ffn_{gate,up}_exps.bias 4 64
			blk.{0-1}.ffn_down_exps.weight 4 64 64
			blk.{0-1}.ffn_down_exps.bias 4 64
			output_norm.weight 64
			output.weight 256 64`,
		f32: "ffn_gate_inp exps.bias",
	},
}

// file writes the GGUF file, matrices in BF16.
func (n *network) file() *gguftest.Builder {
	b := gguftest.New(n.arch)
	for key, v := range n.meta {
		b.Set(n.arch+"."+key, v)
	}
	b.Set("general.file_type", gguftest.U32(32))
	for _, t := range tensorLines(n.gguf) {
		f := dtype.BF16
		if len(t.shape) < 2 || inF32(t.name, n.f32) {
			f = dtype.F32
		}
		b.Tensor(t.name, f, reversed(t.shape)...)
	}
	return b
}

func inF32(name, list string) bool {
	for _, part := range strings.Fields(list) {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

func reversed(shape []int64) []int64 {
	out := make([]int64, len(shape))
	for i, d := range shape {
		out[len(shape)-1-i] = d
	}
	return out
}

// tensors writes the safetensors file, everything in BF16.
func (n *network) tensors() *safetensorstest.Builder {
	b := &safetensorstest.Builder{}
	for _, t := range tensorLines(n.hub) {
		b.Tensor(t.name, "BF16", 16, t.shape...)
	}
	return b
}

// sharded writes the tensors into n files of a folder, with an index.
func (n *network) sharded(t *testing.T, dir string, count int) {
	t.Helper()
	files := make([]*safetensorstest.Builder, count)
	for i := range files {
		files[i] = &safetensorstest.Builder{}
	}
	var entries []string
	for i, x := range tensorLines(n.hub) {
		files[i%count].Tensor(x.name, "BF16", 16, x.shape...)
		entries = append(entries, fmt.Sprintf("%q:%q", x.name, shardName(i%count, count)))
	}
	for i, f := range files {
		write(t, filepath.Join(dir, shardName(i, count)), f.File())
	}
	text(t, filepath.Join(dir, indexName), `{"metadata":{"total_size":0},"weight_map":{`+strings.Join(entries, ",")+"}}")
}

func shardName(i, of int) string {
	return fmt.Sprintf("model-%05d-of-%05d.safetensors", i+1, of)
}

// write makes a file that is as long as it says and takes no room.
func write(t testing.TB, path string, f *gguftest.Sparse) {
	t.Helper()
	text(t, path, string(f.Head))
	if err := os.Truncate(path, f.Len); err != nil {
		t.Fatal(err)
	}
}

func text(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
