package remote_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/format/gguf/gguftest"
	"github.com/memwall/memwall/format/safetensors/safetensorstest"
)

// A small llama, as the hub has it and as a GGUF file.

const llamaConfig = `{"architectures":["LlamaForCausalLM"],"model_type":"llama","hidden_size":64,"intermediate_size":160,"num_hidden_layers":2,"num_attention_heads":4,
	"num_key_value_heads":2,"vocab_size":256,"max_position_embeddings":512,"tie_word_embeddings":false,"torch_dtype":"bfloat16"}`

type tensor struct {
	name  string
	shape []int64
}

func llamaTensors() (out []tensor) {
	out = append(out, tensor{"model.embed_tokens.weight", []int64{256, 64}})
	for i := range 2 {
		p := fmt.Sprintf("model.layers.%d.", i)
		out = append(out, tensor{p + "input_layernorm.weight", []int64{64}}, tensor{p + "self_attn.q_proj.weight", []int64{64, 64}},
			tensor{p + "self_attn.k_proj.weight", []int64{32, 64}}, tensor{p + "self_attn.v_proj.weight", []int64{32, 64}},
			tensor{p + "self_attn.o_proj.weight", []int64{64, 64}},
			tensor{p + "post_attention_layernorm.weight", []int64{64}}, tensor{p + "mlp.gate_proj.weight", []int64{160, 64}},
			tensor{p + "mlp.up_proj.weight", []int64{160, 64}},
			tensor{p + "mlp.down_proj.weight", []int64{64, 160}})
	}
	return append(out, tensor{"model.norm.weight", []int64{64}}, tensor{"lm_head.weight", []int64{256, 64}})
}

// llamaBytes is what the tensors take in 16 bits.
func llamaBytes() (n int64) {
	for _, t := range llamaTensors() {
		e := int64(2)
		for _, d := range t.shape {
			e *= d
		}
		n += e
	}
	return n
}

// checkpoint adds the model in count safetensors files.
func checkpoint(h *fakeHub, repo string, count int) {
	h.add(repo, "config.json", whole(llamaConfig))
	h.add(repo, "README.md", whole("a model"))
	files := make([]*safetensorstest.Builder, count)
	for i := range files {
		files[i] = &safetensorstest.Builder{}
	}
	where := map[string]string{}
	for i, t := range llamaTensors() {
		files[i%count].Tensor(t.name, "BF16", 16, t.shape...)
		where[t.name] = shard(i%count, count)
	}
	for i, f := range files {
		s := f.File()
		h.add(repo, shard(i, count), sparseFile{s, s.Len})
	}
	if count > 1 {
		index, _ := json.Marshal(map[string]any{"metadata": map[string]any{"total_size": llamaBytes()}, "weight_map": where})
		h.add(repo, "model.safetensors.index.json", whole(index))
	}
}

func shard(i, of int) string {
	if of == 1 {
		return "model.safetensors"
	}
	return fmt.Sprintf("model-%05d-of-%05d.safetensors", i+1, of)
}

// ggufModel is the model as a GGUF file whose header holds at least so many bytes of tokenizer.
func ggufModel(tokenizer int) sparseFile {
	u := func(n uint32) gguftest.Value { return gguftest.U32(n) }
	b := gguftest.New("llama")
	for key, v := range map[string]gguftest.Value{"embedding_length": u(64), "block_count": u(2), "feed_forward_length": u(160),
		"context_length": u(512), "attention.head_count": u(4), "attention.head_count_kv": u(2)} {
		b.Set("llama."+key, v)
	}
	b.Set("general.file_type", u(1))
	const word = 40
	if tokenizer > 0 {
		words := make(gguftest.Array[gguftest.Str], tokenizer/word)
		for i := range words {
			words[i] = gguftest.Str(fmt.Sprintf("%0*d", word-8, i))
		}
		b.Set("tokenizer.ggml.merges", words)
	}
	b.Tensor("token_embd.weight", dtype.F16, 64, 256)
	for i := range 2 {
		p := fmt.Sprintf("blk.%d.", i)
		b.Tensor(p+"attn_norm.weight", dtype.F32, 64).Tensor(p+"attn_q.weight", dtype.F16, 64, 64).Tensor(p+"attn_k.weight", dtype.F16, 64,
			32).Tensor(p+"attn_v.weight", dtype.F16, 64, 32).
			Tensor(p+"attn_output.weight", dtype.F16, 64, 64).Tensor(p+"ffn_norm.weight", dtype.F32, 64).Tensor(p+"ffn_gate.weight",
			dtype.F16, 64, 160).Tensor(p+"ffn_up.weight", dtype.F16, 64, 160).
			Tensor(p+"ffn_down.weight", dtype.F16, 160, 64)
	}
	b.Tensor("output_norm.weight", dtype.F32, 64).Tensor("output.weight", dtype.F16, 64, 256)
	s := b.File()
	return sparseFile{s, s.Len}
}

// quants adds a repository of GGUF files.
func quants(h *fakeHub, repo string, labels ...string) {
	base := strings.TrimSuffix(repo[strings.IndexByte(repo, '/')+1:], "-GGUF")
	for _, l := range labels {
		h.add(repo, base+"-"+l+".gguf", ggufModel(0))
	}
}
