// Package quanttest generates reproducible weights for tests: normal, heavy-tailed and with important columns, as
// numbers and as safetensors files.
package quanttest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/format/gguf"
	"github.com/memwall/memwall/format/gguf/gguftest"
)

// Brain rounds to the nearest number of bf16, ties to even.
func Brain(x float32) float32 {
	b := math.Float32bits(x)
	return math.Float32frombits((b + 0x7fff + b>>16&1) &^ 0xffff)
}

// Normal numbers as bf16 holds them.
func Normal(n int, sigma float64, seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	x := make([]float32, n)
	for i := range x {
		x[i] = Brain(float32(r.NormFloat64() * sigma))
	}
	return x
}

// Heavy tails: Student's t with four degrees of freedom.
func Heavy(n int, sigma float64, seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 2))
	x := make([]float32, n)
	for i := range x {
		var s float64
		for range 4 {
			v := r.NormFloat64()
			s += v * v
		}
		x[i] = Brain(float32(sigma * r.NormFloat64() / math.Sqrt(s/4)))
	}
	return x
}

// Tensor is a named matrix; its numbers are stored as bf16.
type Tensor struct {
	Name  string
	Shape []int
	X     []float32
}

// Safetensors is a file of tensors in bf16.
func Safetensors(tensors []Tensor) []byte {
	header := map[string]any{}
	var data []byte
	for _, t := range tensors {
		from := len(data)
		for _, v := range t.X {
			data = binary.LittleEndian.AppendUint16(data, uint16(math.Float32bits(v)>>16))
		}
		header[t.Name] = map[string]any{"dtype": "BF16", "shape": t.Shape, "data_offsets": [2]int{from, len(data)}}
	}
	text, err := json.Marshal(header)
	if err != nil {
		panic(err) // a map of numbers and names
	}
	for len(text)%8 != 0 {
		text = append(text, ' ')
	}
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...), data...)
}

// Llama is a small network: layers of attention and feed-forward matrices that differ in size and in tails.
func Llama(layers, width int) []Tensor {
	seed := uint64(0)
	matrix := func(name string, rows, cols int, heavy bool) Tensor {
		seed++
		t := Tensor{Name: name, Shape: []int{rows, cols}}
		if sigma := 0.02 / (1 + float64(seed%3)); heavy {
			t.X = Heavy(rows*cols, sigma, seed)
		} else {
			t.X = Normal(rows*cols, sigma, seed)
		}
		return t
	}
	norm := func(name string) Tensor { return Tensor{name, []int{width}, Normal(width, 0.1, 99)} }
	out := []Tensor{matrix("model.embed_tokens.weight", 2*width, width, false)}
	for l := range layers {
		at := fmt.Sprintf("model.layers.%d.", l)
		out = append(out, norm(at+"input_layernorm.weight"), norm(at+"post_attention_layernorm.weight"),
			matrix(at+"self_attn.q_proj.weight", width, width, false), matrix(at+"self_attn.k_proj.weight", width/4, width, true),
			matrix(at+"self_attn.v_proj.weight", width/4, width, true), matrix(at+"self_attn.o_proj.weight", width, width, false),
			matrix(at+"mlp.gate_proj.weight", 2*width, width, false), matrix(at+"mlp.up_proj.weight", 2*width, width, false),
			matrix(at+"mlp.down_proj.weight", width, 2*width, l%2 == 0))
	}
	return append(out, norm("model.norm.weight"), matrix("lm_head.weight", 2*width, width, false))
}

// Inputs of the matrices of a Llama that feed a norm or another matrix: they correlate from column to column, and each 64th
// column is sixteen times as large, as in large networks.
func Inputs(layers, width int) (out []Tensor) {
	const rows = 512
	seed := uint64(1000)
	of := func(name string, cols int) Tensor {
		seed++
		x := Normal(rows*cols, 1, seed)
		for i := range x {
			if i%cols > 0 {
				x[i] = Brain(0.7*x[i-1] + x[i])
			}
		}
		for i := range x {
			if i%64 == 5 {
				x[i] *= 16
			}
		}
		return Tensor{name, []int{rows, cols}, x}
	}
	for l := range layers {
		at := fmt.Sprintf("blk.%d.", l)
		out = append(out, of(at+"attn_q", width), of(at+"attn_k", width), of(at+"attn_v", width), of(at+"attn_output", width),
			of(at+"ffn_gate", width), of(at+"ffn_up", width), of(at+"ffn_down", 2*width))
	}
	return out
}

// Cache is keys and values of some layers in the layout of transformers. Keys have channels that are much larger than
// others for every token, as those of networks with rotary positions do; values have none (arXiv:2402.02750, section 3).
func Cache(layers, heads, tokens, width int) (out []Tensor) {
	shape := []int{1, heads, tokens, width}
	for l := range layers {
		k := Normal(heads*tokens*width, 1, uint64(2*l))
		for i := range k {
			if c := i % width; c%16 == 3 {
				k[i] = Brain(k[i]*2 + 12)
			}
		}
		v := Normal(heads*tokens*width, 0.5, uint64(2*l+1))
		out = append(out, Tensor{fmt.Sprintf("past_key_values.%d.key", l), shape, k},
			Tensor{fmt.Sprintf("past_key_values.%d.value", l), shape, v})
	}
	return out
}

// GGUF is the same network as a GGUF file: matrices in bf16, in the order given.
func GGUF(tensors []Tensor) []byte {
	b := gguftest.New("llama").Set("general.name", gguftest.Str("small")).Set("general.file_type",
		gguftest.U32(32)).Set("llama.block_count", gguftest.U32(uint32(layersOf(tensors))))
	if w := uint32(tensors[0].Shape[1]); len(tensors) > 10 {
		b.Set("llama.embedding_length", gguftest.U32(w)).Set("llama.feed_forward_length", gguftest.U32(2*w)).Set("llama.context_length",
			gguftest.U32(4096)).
			Set("llama.attention.head_count", gguftest.U32(4)).Set("llama.attention.head_count_kv",
			gguftest.U32(1)).Set("llama.attention.layer_norm_rms_epsilon", gguftest.F32(1e-5))
	}
	for _, t := range tensors {
		dims := make([]int64, len(t.Shape))
		for i, n := range t.Shape {
			dims[len(dims)-1-i] = int64(n)
		}
		b.Tensor(ggufName(t.Name), dtype.BF16, dims...)
	}
	file := b.File()
	out := make([]byte, file.Len)
	copy(out, file.Head)
	f, err := gguf.Read(bytes.NewReader(out), file.Len)
	if err != nil {
		panic(err) // the builder's own file
	}
	for i := range f.Tensors {
		at := f.Start(&f.Tensors[i])
		for j, v := range tensors[i].X {
			binary.LittleEndian.PutUint16(out[at+2*int64(j):], uint16(math.Float32bits(v)>>16))
		}
	}
	return out
}

func layersOf(tensors []Tensor) (n int) {
	for _, t := range tensors {
		if strings.HasSuffix(t.Name, "q_proj.weight") {
			n++
		}
	}
	return n
}

var ggufNames = strings.NewReplacer("model.embed_tokens", "token_embd", "model.layers.", "blk.", "input_layernorm", "attn_norm",
	"post_attention_layernorm", "ffn_norm", "self_attn.q_proj", "attn_q", "self_attn.k_proj", "attn_k",
	"self_attn.v_proj", "attn_v", "self_attn.o_proj", "attn_output", "mlp.gate_proj", "ffn_gate", "mlp.up_proj", "ffn_up", "mlp.down_proj",
	"ffn_down", "model.norm", "output_norm", "lm_head", "output")

func ggufName(name string) string { return ggufNames.Replace(name) }
