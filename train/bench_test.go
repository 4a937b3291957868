package train_test

import (
	"testing"

	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/train"
)

// BenchmarkPlan is one plan of a search, whose model's weights are stored once.
func BenchmarkPlan(b *testing.B) {
	for _, c := range []struct {
		name, id string
		devices  int
		run      func(*plan.Plan, *plan.Training)
	}{
		{"one device", "llama-3.1-8b", 1, func(_ *plan.Plan, t *plan.Training) { t.Method = "qlora" }},
		{"fsdp", "llama-3.1-8b", 8, func(_ *plan.Plan, t *plan.Training) { t.Sharding = "fsdp" }},
		{"megatron", "llama-3.1-70b", 64, func(p *plan.Plan, t *plan.Training) { t.Framework, p.TP, p.PP, t.GlobalBatch = "megatron", 8, 4, 256 }},
		{"experts", "qwen3-30b-a3b", 64, func(p *plan.Plan, t *plan.Training) {
			t.Framework, p.TP, p.PP, p.EP, t.GlobalBatch = "megatron", 2, 4, 8, 256
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			j := ask(b, c.id, "h100-sxm-80gb", c.devices, c.run)
			if _, err := train.Compile(j); err != nil {
				b.Fatal(err)
			}
			w := j.Weights
			p, t, m := *j.Plan, *j.Training, j.Machine
			b.ReportAllocs()
			for b.Loop() {
				p, t := p, t
				j := train.Job{Model: j.Model, Weights: w, Machine: m, Plan: &p, Training: &t}
				if train.Defaults(&j) != nil || train.Check(&j) != nil {
					b.Fatal("refused")
				}
				s, err := train.Compile(&j)
				if err != nil {
					b.Fatal(err)
				}
				s.Size(nil)
			}
		})
	}
}
