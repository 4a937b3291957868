package vllm

import (
	"math"
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/enginetest"
	"github.com/memwall/memwall/plan"
)

// TestSecondRunner: which models a version gives to the second runner, and whether the budget loses an estimate for graphs
// (vllm-project/vllm#44443, #49224, #53183, #53306).
func TestSecondRunner(t *testing.T) {
	for _, c := range []struct {
		model, hardware string
		version         engine.Version
		second, aside   bool
	}{
		{"qwen3-8b", "h100", engine.V(0, 19, 0), false, false},
		{"qwen3-8b", "h100", engine.V(0, 21, 0), false, true},
		{"qwen3-8b", "h100", engine.V(0, 22, 0), true, false},
		{"llama-3.1-8b", "h100", engine.V(0, 24, 0), false, true},
		{"llama-3.1-8b", "h100", engine.V(0, 25, 0), true, false},
		{"llama-3.1-8b", "h100", engine.V(0, 28, 0), true, false},
		{"llama-3.1-8b", "h100", engine.V(0, 29, 0), true, true},
		{"qwen3-30b-a3b", "h100", engine.V(0, 28, 0), false, true},
		{"qwen3.5-4b", "h100", engine.V(0, 28, 0), false, true}, // recurrent
		{"qwen3.5-4b", "h100", engine.V(0, 29, 0), true, true},
		{"llama-3.1-8b", "mi300x", engine.V(0, 23, 0), false, false},
		{"llama-3.1-8b", "mi300x", engine.V(0, 24, 0), false, true},
	} {
		p := plan.Plan{Context: 4096, Serving: plan.Serving{MaxSeqs: 64, MaxBatchedTokens: 2048}}
		j := enginetest.Case{Model: c.model, Hardware: c.hardware, Version: c.version, Plan: p}.Job(t)
		s := &sizer{job: j, t: deviceTraits(j)}
		if got := second(c.version, j.Model); got != c.second {
			t.Errorf("%s, vLLM %s: second runner %v", c.model, c.version, got)
		}
		if got := setsGraphsAside(s.job, s.t.rocm); got != c.aside {
			t.Errorf("%s on %s, vLLM %s: graphs set aside %v", c.model, c.hardware, c.version, got)
		}
	}
}

// TestFirstStart: the middle of the profile run is a start that compiles, and its band reaches one that does not:
// logs of 0.27.1 and 0.29.0, "GiB for peak activation".
func TestFirstStart(t *testing.T) {
	for _, c := range []struct {
		model, weights, hardware string
		version                  engine.Version
		first, next, off         float64
	}{
		{"qwen3-8b", "", "rtx-4090", engine.V(0, 27, 1), 1.18, 0.19, 0.02},
		{"qwen2.5-0.5b", "", "rtx-3090", engine.V(0, 27, 1), 0.25, 0, 0.02},
	} {
		p := plan.Plan{Context: 2048, Weights: c.weights}
		it := find(enginetest.Case{Model: c.model, Hardware: c.hardware, Version: c.version, Plan: p}.Ranks(t, Engine{})[0].Items, "activations")
		if got := it.Bytes.GiB(); math.Abs(got-c.first) > c.off {
			t.Errorf("%s: a first start takes %.3f GiB, the log has %.2f", c.model, got, c.first)
		}
		if got := it.Low.GiB(); c.next > 0 && math.Abs(got-c.next) > c.off {
			t.Errorf("%s: a later start takes %.3f GiB, the log has %.2f", c.model, got, c.next)
		}
	}
}
