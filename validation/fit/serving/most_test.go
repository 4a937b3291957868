package main

import (
	"os"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/speed/serving"
)

// TestDrained: a run of as many requests as users is one batch from its first prompt to its last token, and one of many requests comes
// near what a server gives that is never without any.
func TestDrained(t *testing.T) {
	data, err := os.ReadFile("../../../speed/serving/fitted.tsv")
	if err != nil {
		t.Fatal(err)
	}
	table, err := coef.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	ask := memwall.Request{Model: "llama-3.1-8b", Hardware: "h100-sxm-80gb", Plan: plan.Plan{Engine: "tensorrt-llm@1.0", Weights: "fp8"}}
	m, err := newPlans().worker(&ask, table)
	if err != nil {
		t.Fatal(err)
	}
	l := serving.Load{Users: 256, Prompt: 1000, Output: 500}
	endless := drained(m, l, 0)
	last := 0.0
	for _, requests := range []int64{32, 256, 2560, 256_000} {
		if got := drained(m, l, requests); got <= last || got > endless*1.001 {
			t.Errorf("%d requests: %.0f tokens/s after %.0f, endless ones %.0f", requests, got, last, endless)
		} else {
			last = got
		}
	}
	if last < 0.99*endless {
		t.Errorf("256,000 requests give %.0f tokens/s, endless ones %.0f", last, endless)
	}
}
