package simulate

import (
	"context"
	"testing"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/workload"
)

// playing is a simulation of Llama 3.1 8B on an H100, and how many requests it plays.
func playing(b *testing.B, w workload.Spec, replicas, length plan.Int) {
	r := &api.Request{Ask: api.AskSim, Model: "llama-3.1-8b", Hardware: "h100", Workload: &w, Replicas: replicas, Router: "least-loaded"}
	r.Context = length
	s, _, err := Simulated(&question.Env{}, r)
	if err != nil {
		b.Fatal(err)
	}
	s.Ctx = context.Background()
	for b.Loop() {
		if _, err := s.Run(Variant{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(w.Requests), "ns/request")
	b.ReportMetric(float64(w.Requests)*float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}

// BenchmarkLong: long answers, as models that reason give, with the time of steps of a real server.
func BenchmarkLong(b *testing.B) { long(b, 0.5) }

// BenchmarkFull: more long answers than the cache holds.
func BenchmarkFull(b *testing.B) { long(b, 0.8) }

func long(b *testing.B, rate float64) {
	playing(b, workload.Spec{Rate: rate, Requests: 20_000, Prompt: workload.Law{Law: "lognormal", Mean: 1000, CV: 0.5},
		Output: workload.Law{Law: "lognormal", Mean: 6000, CV: 0.5, Max: 24_000}}, 1, 32_768)
}

// BenchmarkFour: chat on four servers.
func BenchmarkFour(b *testing.B) { playing(b, workload.Spec{Rate: 40, Requests: 100_000}, 4, 8192) }
