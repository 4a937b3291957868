package step_test

import (
	"testing"

	"github.com/memwall/memwall/train/step"
)

// BenchmarkCompileAndPredict is the time of one plan: a budget of 40 microseconds.
func BenchmarkCompileAndPredict(b *testing.B) {
	in := input(b, "llama-3.1-70b", "64xh100-sxm-80gb")
	in.Training.Framework, in.Training.Sharding = "megatron", "zero1"
	in.Plan.TP, in.Plan.PP, in.Training.Accumulation = 8, 4, 16
	table, err := step.Fitted()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		m, err := step.Compile(in)
		if err != nil {
			b.Fatal(err)
		}
		m.With(table).Predict()
	}
}

// BenchmarkPredict is a compiled run asked again.
func BenchmarkPredict(b *testing.B) {
	m := compile(b, input(b, "llama-3.1-70b", "64xh100-sxm-80gb"))
	table, err := step.Fitted()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		m.With(table).Predict()
	}
}
