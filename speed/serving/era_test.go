package serving_test

import (
	"math"
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/shard"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/speed/serving"
)

// TestTodayIsNotEarly: what stacks of 2024 took on AMD's devices stays with their versions.
func TestTodayIsNotEarly(t *testing.T) {
	in := plan(t, "llama-3.1-8b", "bf16", "mi300x", shard.Parallel{})
	prompt := speed.Batch{Prefill: 6144, Prompts: 1, Finished: 1}
	in.Version = engine.V(0, 5, 0)
	then, rows, early := evidence(t, in, prompt)
	if early != 0 || rows == 0 {
		t.Errorf("of its own era %d figures of %d are early", early, rows)
	}
	in.Version = engine.V(0, 24, 0)
	now, rows, early := evidence(t, in, prompt)
	if now > then/3 {
		t.Errorf("a prompt takes %.3g s today, %.3g s in 2024", now, then)
	}
	if early == 0 || early >= rows {
		t.Errorf("%d figures of %d are of engines of another era", early, rows)
	}
	in.Version = engine.Version{}
	if unsaid, _, _ := evidence(t, in, prompt); math.Abs(unsaid/now-1) > 0.2 {
		t.Errorf("a prompt takes %.3g s with a version that nobody states, %.3g s with one of today", unsaid, now)
	}
}

// evidence is what a step takes, and what that rests on.
func evidence(t *testing.T, in *serving.In, b speed.Batch) (seconds float64, rows, early int) {
	t.Helper()
	m, err := serving.Compile(in)
	if err != nil {
		t.Fatal(err)
	}
	_, rows, early = m.Evidence()
	return m.Step(b), rows, early
}

// TestBestProducts: the fastest product that was found on a device, to which nothing is fitted, in FLOP/s
// (github.com/stas00/ml-engineering@744d01e18b, compute/accelerator/README.md). Products of an engine are not tuned one by
// one, and stacks get faster.
func TestBestProducts(t *testing.T) {
	table, err := serving.Fitted()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		device  string
		m, n, k int64
		rate    float64
	}{
		{"mi300x", 10240, 15360, 8192, 668.4e12},
		{"mi325x", 13312, 10240, 8192, 784.9e12},
		{"mi355x", 12288, 8192, 8192, 1565e12},
	} {
		d, _, err := hardware.Find(c.device)
		if err != nil {
			t.Fatal(err)
		}
		k := serving.ProductKernel(d, "vllm", dtype.Of(dtype.BF16), c.m, c.n, c.k, true)
		got := 2 * float64(c.m*c.n*c.k) / k.Seconds(values(table, k.Uses))
		if got < c.rate/1.4 || got > 1.4*c.rate {
			t.Errorf("%s: %.0f TFLOP/s, the best measured is %.0f", c.device, got/1e12, c.rate/1e12)
		}
		t.Logf("%s: %.0f TFLOP/s, measured %.0f", c.device, got/1e12, c.rate/1e12)
	}
}

func values(t *coef.Table, uses []coef.Use) []float64 {
	c := make([]float64, len(uses))
	for i := range uses {
		c[i] = t.At(uses[i]).Value
	}
	return c
}

// TestIdleLinks: a pair of a board without a switch has one link of seven, so that large sums of two ranks take longer
// than their share; NVLink's switch gives two ranks all of it.
func TestIdleLinks(t *testing.T) {
	table, err := serving.Fitted()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		device string
		slower bool
	}{{"mi300x", true}, {"h100", false}} {
		d, _, err := hardware.Find(c.device)
		if err != nil {
			t.Fatal(err)
		}
		took := func(ranks int64) float64 {
			k := serving.AllReduceKernel(d, "vllm", ranks, 1<<30)
			return k.Seconds(values(table, k.Uses))
		}
		if two, eight := took(2), took(8); (two > eight) != c.slower {
			t.Errorf("%s: a GiB takes %.3g s between two ranks, %.3g s among eight", c.device, two, eight)
		}
	}
}
