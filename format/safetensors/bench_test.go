package safetensors_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/memwall/memwall/format/safetensors"
	"github.com/memwall/memwall/format/safetensors/safetensorstest"
)

// many is a header of n tensors of a mixture of experts, about 120 bytes each.
func many(n int) *safetensorstest.Builder {
	b := new(safetensorstest.Builder).Meta("format", "pt")
	for i := range n {
		b.Tensor(fmt.Sprintf("model.layers.%d.mlp.experts.%d.down_proj.weight", i/512, i%512), "BF16", 16, 7168, 2048)
	}
	return b
}

// BenchmarkRead100k reads a header of 100,000 tensors, 12 MB.
func BenchmarkRead100k(b *testing.B) { benchmark(b, many(100_000)) }

// BenchmarkRead291 reads a header of the size of an 8B model's.
func BenchmarkRead291(b *testing.B) { benchmark(b, many(291)) }

func benchmark(b *testing.B, from *safetensorstest.Builder) {
	file := from.File()
	src := bytes.NewReader(file.Head)
	b.ReportAllocs()
	b.SetBytes(int64(len(file.Head)))
	for b.Loop() {
		f, err := safetensors.ReadHeader(src, int64(len(file.Head)), file.Len)
		if err != nil || len(f.Tensors) == 0 {
			b.Fatal(err)
		}
	}
}

// BenchmarkReadIndex100k reads an index of 100,000 tensors in 160 files, 10 MB.
func BenchmarkReadIndex100k(b *testing.B) {
	m := map[string]string{}
	for i := range 100_000 {
		m[fmt.Sprintf("model.layers.%d.mlp.experts.%d.down_proj.weight", i/512, i%512)] = fmt.Sprintf("model-%05d-of-00160.safetensors",
			i/625+1)
	}
	text, err := json.Marshal(map[string]any{"weight_map": m})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := safetensors.ReadIndex(strings.NewReader(string(text))); err != nil {
			b.Fatal(err)
		}
	}
}
