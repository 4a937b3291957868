package engine_test

import (
	"math"
	"strings"
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/enginetest"
	"github.com/memwall/memwall/engine/generic"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

func kindsOf(t *testing.T, c enginetest.Case) []engine.KindCount {
	t.Helper()
	j := c.Job(t)
	engine.DefaultParallel(j)
	placed, err := engine.Place(j.Model.Decoder(), &j.Weights.Parts[0], engine.Parallel(j.Plan))
	if err != nil {
		t.Fatal(err)
	}
	return placed[0].Kinds
}

// TestEagerScores: sequences × heads × queries × keys × bytes, with the heads of one rank.
func TestEagerScores(t *testing.T) {
	for _, c := range []struct {
		model  string
		tp     int64
		format *dtype.Format
		n, q   int64
		want   unit.Bytes
	}{
		{"llama-3.1-8b", 1, dtype.BF16, 1, 8192, 20 * unit.GiB},  // 32 × 2^26 × 10
		{"llama-3.1-8b", 1, dtype.F16, 1, 8192, 16 * unit.GiB},   // 32 × 2^26 × 8
		{"llama-3.1-70b", 8, dtype.BF16, 4, 4096, 5 * unit.GiB},  // 4 × 8 × 2^24 × 10
		{"deepseek-v3", 1, dtype.BF16, 1, 4096, 20 * unit.GiB},   // 128 heads
		{"gemma-3-27b", 1, dtype.F32, 2, 2048, 2 * unit.GiB},     // 2 × 32 × 2^22 × 8
		{"nemotron-h-8b", 1, dtype.BF16, 1, 8192, 20 * unit.GiB}, // its attention layers only
	} {
		kinds := kindsOf(t, enginetest.Case{Model: c.model, Plan: plan.Plan{TP: c.tp, PP: 1, DP: 1}})
		b := &ledger.Book{}
		it, ok := engine.EagerScores(b, kinds, c.format, c.n, c.q, c.q)
		if !ok || it.Bytes != c.want {
			t.Errorf("%s at tp %d in %s: %s, want %s", c.model, c.tp, c.format.Name, it.Bytes, c.want)
		}
		f := b.Formula(it.Why)
		if v, err := ledger.Eval(f.Text, f.Inputs); err != nil || v != float64(it.Bytes) {
			t.Errorf("%s gives %g (%v)", f.Text, v, err)
		}
	}
	if _, ok := engine.EagerScores(nil, kindsOf(t, enginetest.Case{Model: "mamba2-2.7b"}), dtype.BF16, 1, 100, 100); ok {
		t.Error("a model without attention has scores")
	}
}

// TestEagerCliff: the prompt at the cliff fits the limit, one token more does not.
func TestEagerCliff(t *testing.T) {
	kinds := kindsOf(t, enginetest.Case{Model: "llama-3.1-8b"})
	for limit := 100 * unit.KiB; limit < 500*unit.GiB; limit = limit*3 + 17 {
		for n := int64(1); n < 200; n = n*5 + 1 {
			at := engine.EagerCliff(kinds, dtype.BF16, n, limit)
			fits, _ := engine.EagerScores(nil, kinds, dtype.BF16, n, at, at)
			over, _ := engine.EagerScores(nil, kinds, dtype.BF16, n, at+1, at+1)
			if fits.Bytes > limit || over.Bytes <= limit {
				t.Errorf("%d sequences in %s: cliff at %d (%s, then %s)", n, limit, at, fits.Bytes, over.Bytes)
			}
		}
	}
	if engine.EagerCliff(kinds, dtype.BF16, 1, 0) != 0 {
		t.Error("a cliff without memory")
	}
}

// TestEagerNote: one remark, with the cost and the cliff; none unless asked for.
func TestEagerNote(t *testing.T) {
	j := enginetest.Case{Model: "llama-3.1-8b", Hardware: "rtx-4090", Plan: plan.Plan{Attention: "eager", Context: 8192, PromptTokens: 6144, TP: 1}}.Job(t)
	engine.EagerNote(j, false)
	engine.EagerNote(j, false)
	if len(j.Notes) != 1 {
		t.Fatalf("%d remarks", len(j.Notes))
	}
	n := j.Notes[0]
	kinds := kindsOf(t, enginetest.Case{Model: "llama-3.1-8b"})
	cliff := engine.EagerCliff(kinds, dtype.BF16, 1, j.Device(0).Usable.Value/4) + 1
	if n.Field != "attention" || n.Severity != "warn" || !strings.Contains(n.Text, "11.25 GiB") || !strings.Contains(n.Text, unit.Count(cliff)) || !strings.Contains(n.Text, "leaves it out") {
		t.Errorf("%+v (cliff %d)", n, cliff)
	}
	j = enginetest.Case{Model: "llama-3.1-8b", Hardware: "rtx-4090", Plan: plan.Plan{Attention: "flash"}}.Job(t)
	if engine.EagerNote(j, true); len(j.Notes) != 0 {
		t.Error("a remark on flash attention")
	}
}

// TestPrompt keeps the plan's answer free at every context.
func TestPrompt(t *testing.T) {
	j := &engine.Job{Plan: &plan.Plan{Context: 8192, PromptTokens: 6144}}
	for _, c := range []struct{ context, want int64 }{{8192, 6144}, {16384, 14336}, {1000, 1}, {2049, 1}} {
		if got := engine.Prompt(j, engine.Load{Context: c.context}); got != c.want {
			t.Errorf("context %d: prompt %d, want %d", c.context, got, c.want)
		}
	}
	j.Plan.PromptTokens = 0
	if got := engine.Prompt(j, engine.Load{Context: 512}); got != 512 {
		t.Errorf("prompt %d without a plan's", got)
	}
}

// TestForwardPeak: public profile runs of vLLM 0.6 on Llama-3.1-8B (vllm-project/vllm#10511 and the logs
// beside it): 2.07 GiB with 20,000 tokens, 2.99 with 29,000, cuBLAS's 8.125 MiB included.
func TestForwardPeak(t *testing.T) {
	f := engine.ForwardOf(kindsOf(t, enginetest.Case{Model: "llama-3.1-8b"}), 4096, 1)
	if f.Elements != 3*14336+3*4096 {
		t.Errorf("%g elements alive in %s", f.Elements, f.Layer)
	}
	for _, c := range []struct {
		tokens int64
		gib    float64
	}{{20000, 2.07}, {29000, 2.99}} {
		if got := (f.Peak(nil, ledger.Num{V: float64(c.tokens)}, 2).Bytes() + 8*unit.MiB + 128*unit.KiB).GiB(); math.Abs(got-c.gib) > 0.005 {
			t.Errorf("%d tokens: %.3f GiB, measured %.2f", c.tokens, got, c.gib)
		}
	}
}

// TestWidestAgainstTwin adds up, at every operator, what was made before it and is still read from it on.
func TestWidestAgainstTwin(t *testing.T) {
	for _, id := range []string{"llama-3.1-8b", "deepseek-v3", "qwen3-next-80b-a3b", "gemma-3n-e4b", "mamba2-2.7b", "bloom-7b1", "gpt-oss-20b", "phi-3-mini-4k", "command-r-35b", "nemotron-h-8b"} {
		j := enginetest.Case{Model: id}.Job(t)
		for _, choices := range []float64{1, 0.125} {
			j.Model.Decoder().Each(func(k *model.Kind, _ int64) {
				if got, want := engine.Widest(k, j.Model.Hidden, choices), widestTwin(k, j.Model.Hidden, choices); math.Abs(got-want) > 1e-6 {
					t.Errorf("%s, %s: %g elements, want %g", id, k.Name, got, want)
				}
			})
		}
	}
}

func widestTwin(k *model.Kind, hidden int64, choices float64) (most float64) {
	source := func(v model.Val) model.Val {
		for v > 0 && k.Ops[v-1].Kind == model.Slice {
			v = k.Ops[v-1].In[0]
		}
		return v
	}
	readAt := func(v model.Val, op int) bool {
		for _, in := range k.Ops[op].In {
			if in >= 0 && (in == v || source(in) == v) {
				return true
			}
		}
		return false
	}
	for i := range k.Ops {
		sum := 0.0
		for v := model.Val(0); int(v) <= i+1; v++ {
			made := int(v) - 1
			alive := made == i || v == k.Out
			for op := i; op < len(k.Ops); op++ {
				alive = alive || readAt(v, op)
			}
			if !alive || v > 0 && k.Ops[v-1].Kind == model.Slice {
				continue
			}
			n := float64(hidden)
			if v > 0 {
				n = float64(k.Ops[v-1].Out)
				if o := &k.Ops[v-1]; o.Rows == model.PerChoice && o.Moe != nil {
					n *= float64(o.Moe.Used) * choices
				}
			}
			sum += n
		}
		most = max(most, sum)
	}
	return most
}

// TestForwardShrinksWithTensorParallelism: cut layers are never wider than whole ones.
func TestForwardShrinksWithTensorParallelism(t *testing.T) {
	for _, id := range []string{"llama-3.1-70b", "deepseek-v3", "mixtral-8x7b", "qwen3-next-80b-a3b"} {
		last := math.Inf(1)
		for _, tp := range []int64{1, 2, 4, 8} {
			j := enginetest.Case{Model: id, Plan: plan.Plan{TP: tp, PP: 1, DP: 1}}.Job(t)
			f := engine.ForwardOf(kindsOf(t, enginetest.Case{Model: id, Plan: plan.Plan{TP: tp, PP: 1, DP: 1}}), j.Model.Hidden, 1)
			if f.Elements > last {
				t.Errorf("%s: %g elements at tp %d, %g before", id, f.Elements, tp, last)
			}
			last = f.Elements
		}
	}
}

// TestFloor: the floor keeps the laws that every engine keeps.
func TestFloor(t *testing.T) {
	for _, id := range []string{"llama-3.1-8b", "deepseek-v3", "qwen3-next-80b-a3b"} {
		j, s := enginetest.Case{Model: id, Hardware: "8xh200", Plan: plan.Plan{Context: 5000, Sequences: 3}}.Sizer(t, generic.Engine{})
		b := &ledger.Book{}
		for _, r := range s.Size(b, j.Load()) {
			enginetest.CheckRank(t, b, &r)
		}
		enginetest.CheckMonotone(t, s)
	}
}

// TestBookWeights gives what WeightItem gives.
func TestBookWeights(t *testing.T) {
	for _, id := range []string{"llama-3.1-8b", "deepseek-v3", "qwen3-next-80b-a3b", "gemma-2-9b"} {
		for _, g := range []plan.Plan{{TP: 1, PP: 1, DP: 1}, {TP: 2, PP: 2, DP: 1}} {
			j := enginetest.Case{Model: id, Plan: g}.Job(t)
			placed, err := engine.Place(j.Model.Decoder(), &j.Weights.Parts[0], engine.Parallel(j.Plan))
			if err != nil {
				t.Fatal(err)
			}
			for i := range placed {
				b := &ledger.Book{}
				got, want := engine.BookWeights(b, placed[i].WeightSums(), "x"), unit.Bytes(0)
				for _, g := range placed[i].WeightGroups() {
					for _, w := range g.Tensors {
						want += unit.Bytes(g.Count) * w.Local
					}
				}
				f := b.Formula(got.Why)
				v, err := ledger.Eval(f.Text, f.Inputs)
				if got.Bytes != want || err != nil || v != float64(want) {
					t.Errorf("%s: %d bytes, want %d; %s = %g (%v)", id, got.Bytes, want, f.Text, v, err)
				}
			}
		}
	}
}
