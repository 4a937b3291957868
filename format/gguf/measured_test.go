package gguf_test

import (
	"bytes"
	"fmt"
	"strconv"
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/format/gguf"
	"github.com/memwall/memwall/format/gguf/gguftest"
	"github.com/memwall/memwall/internal/datatest"
)

// measured is what llama.cpp printed for a file.
type measured struct{ elements, bytes int64 }

// TestLlama8B: the header that is measured has the tensors and parameters of Llama 3 8B (safetensors.total of
// meta-llama/Meta-Llama-3-8B on Hugging Face).
func TestLlama8B(t *testing.T) {
	f := read(t, gguftest.Llama8B.Builder())
	if len(f.Tensors) != 291 || f.Elements() != 8030261248 {
		t.Errorf("%d tensors, %d elements", len(f.Tensors), f.Elements())
	}
	checkValue(t, f.ArrayLen, "tokenizer.ggml.tokens", 128256, true)
	checkValue(t, f.ArrayLen, "tokenizer.ggml.merges", 280147, true)
}

// TestMeasured compares headers with what llama.cpp printed for their files: one that is built here, and,
// where MEMWALL_SHARED names the folder that holds them, fifty that llama.cpp read itself.
func TestMeasured(t *testing.T) {
	checkLlama1B(t)
	if datatest.Path("") != "" {
		checkHeaders(t)
	}
}

// checkLlama1B: a file with the tensors of Llama 3.2 1B in F16 has the parameters and bytes that llama.cpp
// v0.5.0 prints for it.
func checkLlama1B(t *testing.T) {
	const embd, ff, kv, vocab = 2048, 8192, 512, 128256
	b := gguftest.New("llama").
		Tensor("rope_freqs.weight", dtype.F32, 32).
		Tensor("token_embd.weight", dtype.F16, embd, vocab).
		Tensor("output_norm.weight", dtype.F32, embd)
	for i := range 16 {
		name := func(role string) string { return fmt.Sprintf("blk.%d.%s.weight", i, role) }
		b.Tensor(name("attn_norm"), dtype.F32, embd).Tensor(name("ffn_norm"), dtype.F32, embd).
			Tensor(name("attn_q"), dtype.F16, embd, embd).Tensor(name("attn_output"), dtype.F16, embd, embd).
			Tensor(name("attn_k"), dtype.F16, embd, kv).Tensor(name("attn_v"), dtype.F16, embd, kv).
			Tensor(name("ffn_gate"), dtype.F16, embd, ff).Tensor(name("ffn_up"), dtype.F16, embd, ff).
			Tensor(name("ffn_down"), dtype.F16, ff, embd)
	}
	f := read(t, b)
	if got, want := (measured{f.Elements(), f.TensorBytes()}), (measured{1235814432, 2471764096}); got != want {
		t.Errorf("%+v, llama.cpp prints %+v", got, want)
	}
}

func checkHeaders(t *testing.T) {
	want := printed(t)
	rows := datatest.Shared(t, "gguf_headers/INDEX.csv")
	if len(rows) == 0 {
		t.Error("no header was found")
	}
	for _, row := range rows {
		head := datatest.Unpacked(t, datatest.Path("gguf_headers/"+row["file"]))
		f, err := gguf.ReadHeader(bytes.NewReader(head), int64(len(head)), number(t, row["file_bytes"]))
		if err != nil {
			t.Errorf("%s: %v", row["file"], err)
			continue
		}
		if got, w := (measured{f.Elements(), f.TensorBytes()}), want[row["model"]+" "+row["ftype"]]; got != w {
			t.Errorf("%s: %+v, llama.cpp printed %+v", row["file"], got, w)
		}
	}
}

// printed gives what llama.cpp printed by model and file type; rows of one file must agree.
func printed(t *testing.T) map[string]measured {
	out := map[string]measured{}
	for _, row := range datatest.Shared(t, "llamacpp_exact.csv") {
		key, m := row["model"]+" "+row["ftype"], measured{number(t, row["n_params"]), number(t, row["tensor_bytes"])}
		if before, ok := out[key]; ok && before != m {
			t.Fatalf("%s: %+v and %+v", key, before, m)
		}
		out[key] = m
	}
	return out
}

func number(t *testing.T, s string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
