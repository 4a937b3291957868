package memwall

import (
	"testing"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/workload"
)

func prepared(b *testing.B, r *Request) *question.Question {
	b.Helper()
	q, err := (&Asker{}).env().Prepare(r)
	if err != nil {
		b.Fatal(err)
	}
	return q
}

// BenchmarkPlan is one plan in the core: the ledger of every rank for a load, without formulas.
func BenchmarkPlan(b *testing.B) {
	for _, c := range []struct{ model, on string }{{"llama-3.1-70b", "2xh100"}, {"deepseek-v3", "8xh200"}, {"gemma-3-27b", "h100"},
		{"qwen3-next-80b-a3b", "4xh100"}} {
		b.Run(c.model, func(b *testing.B) {
			q := prepared(b, &Request{Ask: "fit", Model: c.model, Hardware: c.on})
			b.ReportAllocs()
			for i := range b.N {
				q.Sizer.Size(nil, engine.Load{Context: int64(4096 + i&4095), Sequences: 4})
			}
		})
	}
}

// BenchmarkAsk is a whole question, from names to formulas.
func BenchmarkAsk(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Ask(&Request{Ask: "fit", Model: "llama-3.1-70b", Hardware: "2xh100"}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTrainSearch is a search for plans of training: those that bounds leave are sized, those that fit timed.
func BenchmarkTrainSearch(b *testing.B) {
	for _, c := range []struct{ model, on string }{{"llama-3.1-8b", "8xh100"}, {"llama-3.1-70b", "64xh100"},
		{"llama-3.1-70b", "256xh100,256xa100-sxm-80gb"}, {"deepseek-v3", "256xh100"}, {"mt-nlg-530b", "5120xa100-sxm-80gb"},
		{"llama-3.1-8b", "any"}} {
		b.Run(c.model+"/"+c.on, func(b *testing.B) {
			r := &Request{Ask: "plan", For: "train"}
			r.Model, r.Hardware, r.SequenceLength = c.model, c.on, 4096
			var last Evaluated
			for b.Loop() {
				a, err := Ask(r)
				if err != nil {
					b.Fatal(err)
				}
				last = *a.Evaluated
			}
			b.ReportMetric(float64(last.Decided), "decided")
			b.ReportMetric(float64(last.Full), "sized")
		})
	}
}

// BenchmarkGoal is a goal over three kinds of hardware, simulations included, one after the other.
func BenchmarkGoal(b *testing.B) {
	r := &Request{Ask: api.AskPlan, Model: "llama-3.1-70b", Hardware: "h100-sxm-80gb,a100-sxm-80gb,l40s",
		Goal: &Goal{TTFT: map[string]float64{"p99": 2000}, TPOT: map[string]float64{"p99": 50}}, Workload: &workload.Spec{Concurrency: 50}}
	for b.Loop() {
		if a, err := Ask(r); err != nil || a.Best == nil {
			b.Fatal(err)
		}
	}
}
