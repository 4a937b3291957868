package workload

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/memwall/memwall/plan"
)

// changed is a sound workload after one change.
func changed(change func(*Spec)) Spec {
	s := described()
	change(&s)
	return s
}

// TestBadSpecs: each is refused with the field, what is wrong, and what to do.
func TestBadSpecs(t *testing.T) {
	x := func(x float64) *float64 { return &x }
	for _, c := range []struct {
		change      func(*Spec)
		field, says string
	}{
		{func(s *Spec) { s.Arrivals = "" }, "arrivals", "is not given"},
		{func(s *Spec) { s.Arrivals = "uniform" }, "arrivals", "= uniform is not known"},
		{func(s *Spec) { s.Arrivals, s.Rate = "trace", 0 }, "trace", "is not given"},
		{func(s *Spec) { s.Rate = 0 }, "rate", "is not given"},
		{func(s *Spec) { s.Rate = -1 }, "rate", "= -1 is not a number above 0"},
		{func(s *Spec) { s.Rate = math.NaN() }, "rate", "= NaN is not a number above 0"},
		{func(s *Spec) { s.Rate = math.Inf(1) }, "rate", "= +Inf is not a number above 0"},
		{func(s *Spec) { s.Rate = 1e-9 }, "rate", "more than thirty years"},
		{func(s *Spec) { s.Arrivals, s.CV = "gamma", nil }, "cv", "is not given"},
		{func(s *Spec) { s.Arrivals, s.CV = "gamma", x(-1) }, "cv", "= -1 is not from 0 to 100"},
		{func(s *Spec) { s.CV = x(1) }, "cv", "has no meaning with arrivals = poisson"},
		{func(s *Spec) { s.Concurrency = 4 }, "concurrency", "has no meaning with arrivals = poisson"},
		{func(s *Spec) { s.Arrivals, s.Rate = "closed", 0 }, "concurrency", "is not given"},
		{func(s *Spec) { s.Arrivals, s.Rate, s.Concurrency = "closed", 0, -3 }, "concurrency", "= -3 is not from 1"},
		{func(s *Spec) { s.Arrivals = "burst" }, "rate", "has no meaning with arrivals = burst"},
		{func(s *Spec) { s.Requests = 0 }, "requests", "is 0, and nothing else ends the workload"},
		{func(s *Spec) { s.Requests = -1 }, "requests", "= -1 is negative"},
		{func(s *Spec) { s.Requests = 1e15 }, "requests", "= 1000000000000000 is more than 1000000000"},
		{func(s *Spec) { s.Requests, s.DurationS, s.Rate = 0, 1e8, 100 }, "duration_s", "is more than 1000000000 requests at rate 100"},
		{func(s *Spec) { s.DurationS = math.NaN() }, "duration_s", "= NaN is not from 0"},
		{func(s *Spec) { s.Prompt = Law{} }, "prompt", "is not given"},
		{func(s *Spec) { s.Prompt.Law = "zipf" }, "prompt.law", "= zipf is not known"},
		{func(s *Spec) { s.Prompt.Mean = 0 }, "prompt.mean", "is too little"},
		{func(s *Spec) { s.Prompt.Mean = 1e9 }, "prompt.mean", "is not from 0 to 100000000"},
		{func(s *Spec) { s.Prompt.CV = math.Inf(1) }, "prompt.cv", "is not from 0 to 100"},
		{func(s *Spec) { s.Prompt.Min, s.Prompt.Max = 9, 8 }, "prompt.min", "is more than max"},
		{func(s *Spec) { s.Prompt = Law{Mean: 9, CV: 1} }, "prompt.cv", "has no meaning with law fixed"},
		{func(s *Spec) { s.Prompt.Values = []float64{1} }, "prompt.values", "has no meaning with law lognormal"},
		{func(s *Spec) { s.Output = Law{Law: "uniform"} }, "output", "takes either min and max, or mean and cv"},
		{func(s *Spec) { s.Output = Law{Law: "uniform", Min: 3} }, "output.max", "is too little"},
		{func(s *Spec) { s.Output = Law{Law: "uniform", Mean: 3, CV: 1} }, "output.cv", "more than a uniform law has"},
		{func(s *Spec) { s.Output = Law{Law: "empirical"} }, "output.values", "not from 1 to 1000000"},
		{func(s *Spec) { s.Output = Law{Law: "empirical", Values: []float64{3, 0}} }, "output.values[1]", "= 0 is not from 1"},
		{func(s *Spec) { s.Output = Law{Law: "empirical", Values: []float64{3}, Weights: []float64{1, 2}} }, "output.weights",
			"= 2 weights are for 1 values"},
		{func(s *Spec) { s.Output = Law{Law: "empirical", Values: []float64{3}, Weights: []float64{0}} }, "output.weights", "in sum"},
		{func(s *Spec) { s.Patience = Law{Mean: -1} }, "patience_s.mean", "is not from 0"},
		{func(s *Spec) { s.SharedPrefix = -1 }, "shared_prefix_tokens", "is not from 0"},
		{func(s *Spec) { s.Prefixes.Count = 3 }, "prefixes", "have no length"},
		{func(s *Spec) { s.Adapters.Count = 1e12 }, "adapters.count", "is not from 0 to 1000000"},
		{func(s *Spec) { s.Adapters.Zipf = 1 }, "adapters.count", "is not given"},
		{func(s *Spec) { s.Adapters = Choice{9, math.NaN()} }, "adapters.zipf", "= NaN is not from 0 to 10"},
		{func(s *Spec) { s.Sessions = &Sessions{} }, "sessions.turns", "is not given"},
		{func(s *Spec) { s.Sessions = &Sessions{Turns: Law{Mean: 1e6}} }, "sessions.turns.mean", "is not from 0 to 10000"},
		{func(s *Spec) { s.Sessions = &Sessions{Turns: Law{Mean: 2}, MaxTokens: -1} }, "sessions.max_tokens", "is not from 0"},
		{func(s *Spec) { s.Priorities = []float64{1, -1} }, "priorities[1]", "= -1 is not from 0"},
		{func(s *Spec) { s.Priorities = []float64{0} }, "priorities", "in sum"},
		{func(s *Spec) { s.Priorities = make([]float64, 2000) }, "priorities", "shares are more than 1000"},
		{func(s *Spec) { s.Arrivals, s.Rate, s.Requests, s.DurationS = "burst", 0, 0, 5 }, "requests", "all of them come at once"},
		{func(s *Spec) { s.Patience = Law{Law: "exponential", CV: 1} }, "patience_s.cv", "has no meaning with law exponential"},
		{func(s *Spec) { s.Patience = Law{Law: "lognormal", CV: 1} }, "patience_s.mean", "is too little"},
		{func(s *Spec) { s.Prefixes.Zipf, s.SharedPrefix = 1, 9 }, "prefixes.count", "is not given"},
		{func(s *Spec) { s.Output = Law{Law: "uniform", CV: 0.1} }, "output.mean", "is too little"},
		{func(s *Spec) { *s = Spec{Arrivals: "trace", Trace: "x", Reading: ReadOptions{MaxPrompt: -1}} }, "reading.max_prompt_tokens",
			"= -1 is not from"},
		{func(s *Spec) { *s = Spec{Arrivals: "trace", Trace: "x", Reading: ReadOptions{Block: -1}} }, "reading.block_tokens",
			"= -1 is not from"},
		{func(s *Spec) { *s = Spec{Arrivals: "trace", Trace: "x", Reading: ReadOptions{PerToken: 99}} }, "reading.bytes_per_token",
			"= 99 is not from"},
		{func(s *Spec) { s.Trace = "x" }, "prompt", "has no meaning with a trace"},
		{func(s *Spec) { s.Reading.SkipBad = true }, "reading", "has no meaning with arrivals = poisson"},
		{func(s *Spec) { *s = Spec{Arrivals: "trace", Trace: "x", Seed: 3} }, "seed", "has no meaning with arrivals = trace"},
		{func(s *Spec) { *s = Spec{Arrivals: "trace", Trace: "x", Reading: ReadOptions{Format: "csv"}} }, "reading.format",
			"= csv is not known"},
		{func(s *Spec) { *s = Spec{Arrivals: "trace", Trace: "x", Reading: ReadOptions{Speed: -1}} }, "reading.speed", "= -1 is not from"},
	} {
		s := changed(c.change)
		err := s.Check()
		var p *plan.Problem
		if !errors.As(err, &p) || p.Field != "workload."+c.field || !strings.Contains(p.Message, c.says) || p.Fix == "" {
			t.Errorf("%s: %v, want %q", c.field, err, c.says)
		}
	}
}

// TestRequestReads: the workload of a request as people write it.
func TestRequestReads(t *testing.T) {
	const text = `{"arrivals":"closed","concurrency":64,"requests":1e4,"seed":1,"prompt":{"law":"uniform","mean":1024,"cv":0.5},
		"output":{"mean":128},"shared_prefix_tokens":512,"sessions":{"turns":{"law":"uniform","min":1,"max":5}},"adapters":{"count":3}}`
	var s Spec
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(s)
	if err != nil || len(again) > len(text) {
		t.Errorf("%s, %v", again, err)
	}
}

// TestSourceAndTrace: a source is generated only from a workload without a trace.
func TestSourceAndTrace(t *testing.T) {
	if _, err := (Spec{Arrivals: "trace", Trace: "x"}).Source(); err == nil || !strings.Contains(err.Error(), "is not read yet") {
		t.Error(err)
	}
	if _, err := (Spec{Arrivals: "poisson"}).Source(); err == nil {
		t.Error("no rate is needed")
	}
}
