package main

import (
	"math"
	"os"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/speed/serving"
)

// TestDrained: a run of fewer requests than users is one batch from its first prompt to its last token and gives less; rounds of as many
// as there are users give what a server gives that is never without any, and what is left over takes from it.
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
	for _, requests := range []int64{32, 128, 256 + 32, 2560 + 32, 256_000 + 32} {
		if got := drained(m, l, requests); got <= last || got >= endless {
			t.Errorf("%d requests: %.0f tokens/s after %.0f, endless ones %.0f", requests, got, last, endless)
		} else {
			last = got
		}
	}
	if whole := drained(m, l, 2560); last < 0.99*endless || math.Abs(whole-endless) > 1e-6*endless {
		t.Errorf("256,032 requests give %.0f tokens/s and ten whole rounds %.0f, endless ones %.0f", last, whole, endless)
	}
}
