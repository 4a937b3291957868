package quant

import (
	"testing"

	"github.com/memwall/memwall/quant/quanttest"
)

// normal and heavy-tailed weights of the size that networks have.
func normal(n int, seed uint64) []float32 { return quanttest.Normal(n, 0.02, seed) }
func heavy(n int, seed uint64) []float32  { return quanttest.Heavy(n, 0.02, seed) }

func surveyOf(x []float32, cols int64) *Survey {
	s := NewSurvey(int64(len(x))/cols, cols)
	s.Add(x)
	return s
}

// BenchmarkTrial measures formats on 4 MiB of bf16; bytes are those of the bf16 input.
func BenchmarkTrial(b *testing.B) {
	const cols = 4096
	x := normal(512*cols, 1)
	s := surveyOf(x, cols)
	for _, f := range Formats() {
		b.Run(f.Name, func(b *testing.B) {
			b.SetBytes(int64(2 * len(x)))
			for b.Loop() {
				NewTrial(f, s).Rows(x, nil)
			}
		})
	}
	b.Run("survey", func(b *testing.B) {
		b.SetBytes(int64(2 * len(x)))
		for b.Loop() {
			surveyOf(x, cols)
		}
	})
}
