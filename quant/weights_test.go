package quant

import (
	"math"
	"math/rand/v2"
	"testing"
)

// normal numbers as bf16 holds them.
func normal(n int, seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	x := make([]float32, n)
	for i := range x {
		x[i] = ofBrain(toBrain(float32(r.NormFloat64() * 0.02)))
	}
	return x
}

// heavy tails: a normal number over the root of a mean of squares, Student's t with four degrees of freedom.
func heavy(n int, seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 2))
	x := make([]float32, n)
	for i := range x {
		var s float64
		for range 4 {
			v := r.NormFloat64()
			s += v * v
		}
		x[i] = ofBrain(toBrain(float32(0.02 * r.NormFloat64() / math.Sqrt(s/4))))
	}
	return x
}

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
