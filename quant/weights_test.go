package quant

import (
	"testing"

	"github.com/memwall/memwall/quant/quanttest"
)

// normal and heavy-tailed weights of the size that networks have.
func normal(n int, seed uint64) []float32 { return quanttest.Normal(n, 0.02, seed) }
func heavy(n int, seed uint64) []float32  { return quanttest.Heavy(n, 0.02, seed) }

// coderOf a format whose inputs need no reading.
func coderOf(f *Format, s *Survey) Coder {
	c, err := f.Coder(s)
	if err != nil {
		panic(err)
	}
	return c
}

// tried is a matrix stored in a format.
func tried(f *Format, s *Survey, x []float32) *Trial {
	t, err := NewTrial(f, s)
	if err != nil {
		panic(err)
	}
	t.Rows(x)
	return t
}

// unasked are the formats that need to know nothing of inputs.
func unasked() (out []*Format) {
	for _, f := range Formats() {
		if f.Asks == Nothing {
			out = append(out, f)
		}
	}
	return out
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
	for _, f := range unasked() {
		b.Run(f.Name, func(b *testing.B) {
			b.SetBytes(int64(2 * len(x)))
			for b.Loop() {
				tried(f, s, x)
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

// BenchmarkMeasure reads, surveys and tries one format, all that the command does with a matrix.
func BenchmarkMeasure(b *testing.B) {
	x := normal(1<<22, 1)
	tensor := brain("x", x, 1, 1024, 4096)
	for _, name := range []string{"q8_0", "q4_0", "fp8", "int8", "q4_k"} {
		f, _ := Find(name)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(2 * len(x)))
			w := &Work{Formats: []*Format{f}}
			for b.Loop() {
				if _, err := w.Measure(tensor); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
