package gguf_test

import (
	"errors"
	"fmt"

	"github.com/memwall/memwall/format/gguf"
	"github.com/memwall/memwall/format/gguf/gguftest"
)

func ExampleRead() {
	file := gguftest.Llama8B.Builder().File()
	f, err := gguf.Read(file, file.Len)
	if err != nil {
		fmt.Println(err)
		return
	}
	layers, _ := f.Uint(f.Arch("block_count"))
	tokens, _ := f.ArrayLen("tokenizer.ggml.tokens")
	fmt.Println(f.Architecture(), layers, "layers,", tokens, "tokens,", len(f.Tensors), "tensors,", f.Elements(), "parameters")
	t := f.Tensors[1]
	fmt.Println(t.Name, t.Format.Name, t.Dims, t.Bytes)
	// Output:
	// llama 32 layers, 128256 tokens, 291 tensors, 8030261248 parameters
	// blk.0.attn_norm.weight f32 [4096] 16384
}

func ExampleReadHeader() {
	file := gguftest.Llama8B.Builder().File()
	for have := int64(1 << 20); ; have *= 2 {
		_, err := gguf.ReadHeader(file, have, file.Len)
		var e *gguf.Error
		if errors.As(err, &e) && e.More {
			fmt.Println(e)
			continue
		}
		fmt.Println(have, err)
		return
	}
	// Output:
	// byte 1,048,576: the header goes on beyond the 1,048,576 bytes at hand, in "tokenizer.ggml.tokens"
	// byte 2,097,152: the header goes on beyond the 2,097,152 bytes at hand, in "tokenizer.ggml.token_type"
	// byte 4,194,304: the header goes on beyond the 4,194,304 bytes at hand, in "tokenizer.ggml.merges"
	// byte 8,388,608: the header goes on beyond the 8,388,608 bytes at hand, in "tokenizer.ggml.merges"
	// 16777216 <nil>
}
