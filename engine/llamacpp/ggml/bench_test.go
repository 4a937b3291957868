package ggml

import "testing"

// benchModels are a dense model, one with many experts, a hybrid and the largest graphs.
var benchModels = []string{"qwen3-8b", "llama-3.1-70b", "kimi-k2", "granite-4.0-h-tiny", "qwen3-next-80b-a3b", "gemma-3-27b",
	"gemma-3n-e4b", "jamba-v0.1", "minicpm3-4b"}

func BenchmarkCompile(b *testing.B) {
	for _, id := range benchModels {
		m := converted(b, id)
		b.Run(id, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Compile(m, Shape{Flash: true}, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkReplay(b *testing.B) {
	for _, id := range benchModels {
		m := converted(b, id)
		c, err := Compile(m, Shape{Flash: true}, nil)
		if err != nil {
			b.Fatal(err)
		}
		var p Planner
		s := Sizes{Tokens: 512, Outputs: 512, Cells: 32768, WindowCells: 1536, Seqs: 1}
		b.Run(id, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Peak(&c.Spots[0], s)
			}
		})
	}
}
