package gguftest

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/dtype"
)

// Llama describes a header in the shape of a Llama's.
type Llama struct {
	Layers, Embd, FF, Heads, KVHeads, Tokens, Merges int64
}

// Llama8B is Llama 3 8B: 291 tensors, 128,256 tokens, 280,147 merges (config.json and tokenizer of
// meta-llama/Meta-Llama-3-8B).
var Llama8B = Llama{Layers: 32, Embd: 4096, FF: 14336, Heads: 32, KVHeads: 8, Tokens: 128256, Merges: 280147}

// Tiny has all parts of Llama8B in 3 kB.
var Tiny = Llama{Layers: 2, Embd: 256, FF: 512, Heads: 4, KVHeads: 2, Tokens: 8, Merges: 3}

// Builder writes the header: weights in Q4_K, norms in F32, the output in Q6_K.
func (l Llama) Builder() *Builder {
	b := New("llama").
		Set("general.name", Str("Llama")).
		Set("llama.block_count", U32(l.Layers)).
		Set("llama.context_length", U32(8192)).
		Set("llama.embedding_length", U32(l.Embd)).
		Set("llama.feed_forward_length", U32(l.FF)).
		Set("llama.attention.head_count", U32(l.Heads)).
		Set("llama.attention.head_count_kv", U32(l.KVHeads)).
		Set("llama.rope.freq_base", F32(500000)).
		Set("llama.attention.layer_norm_rms_epsilon", F32(1e-5)).
		Set("general.file_type", U32(15)).
		Set("tokenizer.ggml.model", Str("gpt2")).
		Set("tokenizer.ggml.tokens", words(l.Tokens, 7)).
		Set("tokenizer.ggml.token_type", make(Array[I32], l.Tokens)).
		Set("tokenizer.ggml.merges", words(l.Merges, 15)).
		Set("tokenizer.ggml.bos_token_id", U32(0)).
		Set("general.quantization_version", U32(2))
	return l.tensors(b)
}

func (l Llama) tensors(b *Builder) *Builder {
	kv := l.Embd / l.Heads * l.KVHeads
	b.Tensor("token_embd.weight", dtype.Q4_K, l.Embd, l.Tokens)
	for i := range l.Layers {
		name := func(role string) string { return fmt.Sprintf("blk.%d.%s.weight", i, role) }
		b.Tensor(name("attn_norm"), dtype.F32, l.Embd)
		b.Tensor(name("ffn_down"), dtype.Q4_K, l.FF, l.Embd)
		b.Tensor(name("ffn_gate"), dtype.Q4_K, l.Embd, l.FF)
		b.Tensor(name("ffn_up"), dtype.Q4_K, l.Embd, l.FF)
		b.Tensor(name("ffn_norm"), dtype.F32, l.Embd)
		b.Tensor(name("attn_k"), dtype.Q4_K, l.Embd, kv)
		b.Tensor(name("attn_output"), dtype.Q4_K, l.Embd, l.Embd)
		b.Tensor(name("attn_q"), dtype.Q4_K, l.Embd, l.Embd)
		b.Tensor(name("attn_v"), dtype.Q4_K, l.Embd, kv)
	}
	b.Tensor("output_norm.weight", dtype.F32, l.Embd)
	return b.Tensor("output.weight", dtype.Q6_K, l.Embd, l.Tokens)
}

// words makes n texts of mean bytes on average.
func words(n int64, mean int) Array[Str] {
	a := make(Array[Str], n)
	letters := strings.Repeat("abcdefghij", 2*mean)
	for i := range a {
		a[i] = Str(letters[:1+i%(2*mean-1)])
	}
	return a
}
