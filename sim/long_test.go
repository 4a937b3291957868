package sim

import (
	"testing"
	"time"

	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/workload"
)

// thinking is a load of long answers, as models that reason give: prompts of about 1,000 tokens, answers of 6,000, some 60 sequences
// at a time and never more than 64.
func thinking(b testing.TB, requests int) workload.Source {
	s := workload.Spec{Arrivals: "poisson", Rate: 0.75, Prompt: workload.Law{Law: "lognormal", Mean: 1000, CV: 0.5},
		Output: workload.Law{Law: "lognormal", Mean: 6000, CV: 0.5}, Seed: 1}
	s.Requests = plan.Int(requests)
	src, err := s.Source()
	if err != nil {
		b.Fatal(err)
	}
	return src
}

// BenchmarkLong: long answers of a few sequences.
func BenchmarkLong(b *testing.B) {
	const n = 20_000
	r := replica()
	r.Blocks = 60_000
	var out *Result
	for b.Loop() {
		out = play(b, r, thinking(b, n), Options{})
	}
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "requests/s")
	b.ReportMetric(float64(out.Steps)/n, "steps/request")
	b.ReportMetric(out.PerToken.Mean().Seconds()*1e3, "ms/token")
	b.ReportMetric(out.Series.Running(), "running")
}

// BenchmarkFour: four replicas of steady chat behind a router.
func BenchmarkFour(b *testing.B) {
	const n = 100_000
	rs := []Replica{replica(), replica(), replica(), replica()}
	for b.Loop() {
		if _, err := Run(&Fleet{Replicas: rs, Router: LeastLoaded()}, flowing(n, 12*time.Millisecond, chatting), Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}
