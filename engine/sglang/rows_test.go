package sglang

import (
	"math"
	"sort"
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/enginetest"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// row is a public start-up log: GiB that were available before and after loading and after the pool, as
// printed to two decimals, and the tokens of the pool.
type row struct {
	issue           string
	model, weights  string
	on              string // "" when the log does not say
	version         engine.Version
	tp              int64
	fraction        float64
	chunk           int64
	before, after   float64
	tokens          int64
	k               float64 // K size, GiB
	exact           bool    // tokens lie within the rounding of the printed availables
	worst           float64 // else, the error that the row is known for
	configOnlyWorst float64 // of tokens from config alone; 0: not asked
}

var logs = []row{
	{issue: "sgl-project/sglang#1612", model: "mistral-7b-v0.1", on: "rtx-4090", version: engine.V(0, 3, 3), tp: 1, fraction: 0.88,
		chunk: 8192, before: 23.16, after: 9.59, tokens: 55807, exact: true, configOnlyWorst: 0.03},
	{issue: "sgl-project/sglang#4094", model: "qwen2.5-7b", on: "a100-pcie-40gb", version: engine.V(0, 4, 3), tp: 1, fraction: 0.88,
		chunk: 8192, before: 38.97, after: 24.59, tokens: 372945, exact: true, configOnlyWorst: 0.01},
	{issue: "sgl-project/sglang#1191", model: "mixtral-8x7b", on: "8xl4", version: engine.V(0, 2, 13), tp: 8, fraction: 0.83, chunk: 8192,
		before: 21.65, after: 10.75, tokens: 463405, exact: true, configOnlyWorst: 0.03},
	{issue: "sgl-project/sglang#3765", model: "qwen2.5-32b", on: "2xa100-pcie-80gb", version: engine.V(0, 4, 3), tp: 2, fraction: 0.5,
		chunk: 4096, before: 78.49, after: 47.70, k: 4.23, exact: true, configOnlyWorst: 0.03},
	{issue: "sgl-project/sglang#748", model: "qwen2.5-72b", weights: "gptq", version: engine.V(0, 2, 6), tp: 4, fraction: 0.6,
		before: 21.26, after: 11.45, tokens: 38165, worst: 0.013},
	{issue: "sgl-project/sglang#4161", model: "deepseek-r1", on: "16xh800-sxm-80gb", version: engine.V(0, 4, 3), tp: 16, fraction: 0.7,
		chunk: 8192, before: 76.97, after: 36.51, tokens: 201681, worst: 0.018, configOnlyWorst: 0.10},
}

func (r *row) test(hardware string) enginetest.Case {
	f := r.fraction
	return enginetest.Case{Model: r.model, Hardware: hardware, Version: r.version,
		Plan: plan.Plan{Weights: r.weights, Context: 4096, TP: r.tp, PP: 1, DP: 1,
			Serving: plan.Serving{MemFractionStatic: &f, MaxBatchedTokens: plan.Int(r.chunk)}}}
}

// printed tokens, from K size where the log has no count.
func (r *row) printed(p *pool) float64 {
	if r.tokens > 0 {
		return float64(r.tokens)
	}
	return 2*r.k*float64(unit.GiB)/float64(perToken(p.full)) - float64(p.page)
}

// TestTokensFromPrintedAvailables reproduces the tokens of public logs from the memory that they print.
func TestTokensFromPrintedAvailables(t *testing.T) {
	var errs []float64
	for _, r := range logs {
		_, s := r.test("").Sizer(t, Engine{})
		p := &s.(*sizer).ranks[0].pool
		at := func(slack float64) float64 {
			rest := r.after + slack - (r.before-slack)*(1-r.fraction)
			n, _ := p.tokens(gib(rest))
			return float64(n)
		}
		want := r.printed(p)
		e := math.Abs(at(0)/want - 1)
		errs = append(errs, e)
		switch {
		case r.exact && (at(-0.006) > want+1 || at(0.006) < want-1):
			t.Errorf("%s: %.0f to %.0f tokens, printed %.0f", r.issue, at(-0.006), at(0.006), want)
		case !r.exact && e > r.worst:
			t.Errorf("%s: off by %.2f %%", r.issue, 100*e)
		}
	}
	report(t, "tokens from the printed availables", errs, 0.003, 0.02)
}

// TestTokensFromConfig: the same without any figure of the log but its mem_fraction_static.
func TestTokensFromConfig(t *testing.T) {
	var errs []float64
	for _, r := range logs {
		if r.configOnlyWorst == 0 {
			continue
		}
		ranks := r.test(r.on).Ranks(t, Engine{})
		_, s := r.test(r.on).Sizer(t, Engine{})
		want := r.printed(&s.(*sizer).ranks[0].pool)
		e := float64(ranks[0].KV.Tokens)/want - 1
		t.Logf("%s: %d tokens, printed %.0f (%+.2f %%)", r.issue, ranks[0].KV.Tokens, want, 100*e)
		errs = append(errs, math.Abs(e))
		if math.Abs(e) > r.configOnlyWorst {
			t.Errorf("%s: off by %.2f %%", r.issue, 100*e)
		}
	}
	report(t, "tokens from config", errs, 0.02, 0.03)
}

func report(t *testing.T, what string, errs []float64, median, worst float64) {
	t.Helper()
	sort.Float64s(errs)
	mid, p90 := errs[len(errs)/2], errs[len(errs)*9/10]
	t.Logf("%s: n %d, median %.3f %%, p90 %.2f %%, max %.2f %%", what, len(errs), 100*mid, 100*p90, 100*errs[len(errs)-1])
	if mid > median || errs[len(errs)-1] > worst {
		t.Errorf("%s: median %.3f %%, max %.2f %%", what, 100*mid, 100*errs[len(errs)-1])
	}
}
