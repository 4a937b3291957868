package llamacpp

import (
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/plan"
)

var benchPlans = []struct {
	name    string
	model   string
	devices int
	change  func(*plan.Plan)
}{
	{"dense", "llama-3.1-8b", 1, nil},
	{"dense on the host", "llama-3.1-8b", 0, nil},
	{"dense on two", "llama-3.1-70b", 2, nil},
	{"dense, half", "llama-3.1-70b", 1, func(p *plan.Plan) { p.GPULayers = layers(40) }},
	{"experts on the host", "qwen3-235b-a22b", 1, func(p *plan.Plan) { p.CPUMoE = layers(-1) }},
	{"hybrid", "granite-4.0-h-tiny", 1, nil},
	{"hybrid on two", "qwen3-next-80b-a3b", 2, nil},
	{"parallel streams", "gemma-3n-e4b", 1, nil},
}

// BenchmarkFirst is a plan that was never asked: placement, model buffers, graph and one load.
func BenchmarkFirst(b *testing.B) {
	for _, c := range benchPlans {
		b.Run(c.name, func(b *testing.B) {
			j := jobOf(b, c.model, "q4_k_m", cards(b, c.devices), Latest, small(c.change))
			Engine{CLI}.Defaults(j)
			b.ReportAllocs()
			for b.Loop() {
				s, err := Engine{CLI}.Sizer(j)
				if err != nil {
					b.Fatal(err)
				}
				s.Size(nil, j.Load())
			}
		})
	}
}

// BenchmarkWarm is another load of a plan that was asked before.
func BenchmarkWarm(b *testing.B) {
	for _, c := range benchPlans {
		b.Run(c.name, func(b *testing.B) {
			j := jobOf(b, c.model, "q4_k_m", cards(b, c.devices), Latest, small(c.change))
			s := sizerOf(b, Engine{CLI}, j)
			contexts := []int64{4096, 8192, 16384, 32768}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				s.Size(nil, engine.Load{Context: contexts[i%len(contexts)], Sequences: 1})
			}
		})
	}
}
