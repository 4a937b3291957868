package gguf_test

import (
	"bytes"
	"testing"

	"github.com/memwall/memwall/format/gguf"
	"github.com/memwall/memwall/format/gguf/gguftest"
)

// BenchmarkRead8B reads the header of a Llama 3 8B: 128,256 tokens, 280,147 merges, 291 tensors, 9 MB.
func BenchmarkRead8B(b *testing.B) { benchmark(b, gguftest.Llama8B.Builder()) }

// BenchmarkReadBigEndian is the same file in the other byte order.
func BenchmarkReadBigEndian(b *testing.B) {
	f := gguftest.Llama8B.Builder()
	f.BigEndian = true
	benchmark(b, f)
}

// BenchmarkReadTiny is what small files cost: the later files of a split model, adapters.
func BenchmarkReadTiny(b *testing.B) { benchmark(b, gguftest.Tiny.Builder()) }

func benchmark(b *testing.B, from *gguftest.Builder) {
	file := from.File()
	src := bytes.NewReader(file.Head)
	b.ReportAllocs()
	b.SetBytes(int64(len(file.Head)))
	for b.Loop() {
		f, err := gguf.ReadHeader(src, int64(len(file.Head)), file.Len)
		if err != nil || len(f.Tensors) == 0 {
			b.Fatal(err)
		}
	}
}
