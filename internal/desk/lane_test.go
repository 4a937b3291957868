package desk

import (
	"testing"
	"time"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/workload"
)

// TestLanes: questions that are known to be cheap and dear, and where they wait.
func TestLanes(t *testing.T) {
	many := func(n int, engine, hardware string) *memwall.Request {
		r := &memwall.Request{Ask: "fit", Model: "deepseek-v3", Hardware: hardware}
		r.Engine = engine
		for range n {
			r.Also = append(r.Also, memwall.Request{Model: "qwen3-8b"})
		}
		return r
	}
	load := func(n int) *workload.Spec { return &workload.Spec{Rate: 1, Requests: plan.Int(n)} }
	for _, c := range []struct {
		r    *memwall.Request
		want Lane
	}{
		{fit(), Quick}, {many(0, "", "8xh100"), Quick}, {many(2, "vllm", "8xh100"), Quick},
		{&memwall.Request{Ask: "train", Model: "llama-3.1-8b", Hardware: "8xh100"}, Quick},
		{&memwall.Request{Ask: "diagnose", Text: "CUDA out of memory"}, Quick}, {&memwall.Request{Ask: "fit", Hardware: "no such"}, Quick},
		{&memwall.Request{}, Quick},
		{many(0, "llama.cpp", "16xrtx-4090"), Quick}, {&memwall.Request{Ask: "plan", Model: "qwen3-32b", Hardware: "rtx-4090"}, Medium},
		{&memwall.Request{Ask: "pick", Hardware: "rtx-4090"}, Medium},
		{&memwall.Request{Ask: "sim", Workload: load(1000)}, Medium},
		{&memwall.Request{Ask: "diagnose", Text: string(make([]byte, 8<<20))}, Medium},
		{many(15, "vllm", "8xh100"), Medium}, {many(32, "llama.cpp", "16xrtx-4090"), Long}, {many(32, "", "16xrtx-4090"), Long},
		{&memwall.Request{Ask: "sim", Workload: load(10_000_000)}, Long},
		{&memwall.Request{Ask: "sim", Workload: &workload.Spec{Trace: "a.csv"}}, Long},
		{&memwall.Request{Ask: "plan", Model: "llama-3.1-70b", Workload: load(1000)}, Long},
		{&memwall.Request{Ask: "plan", Goal: &memwall.Goal{TTFT: map[string]float64{"p99": 1000}}}, Long},
		{many(0, "llama.cpp", "9999999999xrtx-4090"), Quick},
	} {
		if got := LaneOf(c.r); got != c.want {
			t.Errorf("%s %s %s: lane %d, estimated at %g s; want %d", c.r.Ask, c.r.Model, c.r.Hardware, got, Cost(c.r), c.want)
		}
	}
}

// TestDearOnesBeside: while every turn of the dear lanes is taken, a cheap question is answered.
func TestDearOnesBeside(t *testing.T) {
	d := New(Options{Patience: time.Millisecond})
	for _, lane := range []Lane{Medium, Long} {
		for range cap(d.slow[lane]) {
			d.slow[lane] <- struct{}{}
		}
	}
	for range 20 {
		if _, err := d.Ask(t.Context(), "somebody", fit(), nil); err != nil {
			t.Fatal(err)
		}
	}
}

func BenchmarkCost(b *testing.B) {
	r := &memwall.Request{Ask: "fit", Model: "deepseek-v3", Hardware: "8xh200"}
	for b.Loop() {
		Cost(r)
	}
}
