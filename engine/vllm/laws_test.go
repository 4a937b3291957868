package vllm

import (
	"reflect"
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/enginetest"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
)

// versions are one of each era of the rules.
var versions = []engine.Version{
	engine.V(0, 6, 0), engine.V(0, 6, 4), engine.V(0, 6, 5), engine.V(0, 7, 3), engine.V(0, 8, 0), engine.V(0, 8, 5), engine.V(0, 9, 1), engine.V(0, 9, 2),
	engine.V(0, 10, 2), engine.V(0, 11, 0), engine.V(0, 11, 2), engine.V(0, 12, 0), engine.V(0, 14, 0), engine.V(0, 16, 0), engine.V(0, 17, 0), engine.V(0, 18, 0), engine.V(0, 21, 0), engine.V(0, 24, 0),
}

// grid is models of every kind of cache on several machines and in several formats.
func grid() (out []enginetest.Case) {
	for _, m := range []struct{ model, weights string }{
		{"llama-3.1-8b", ""}, {"llama-3.1-70b", "awq"}, {"qwen3-14b", "fp8"}, {"qwen3-30b-a3b", "int4"}, {"gemma-3-27b", ""}, {"gpt-oss-20b", ""}, {"deepseek-v3", ""},
		{"qwen3-next-80b-a3b", ""}, {"mamba-130m", ""}, {"opt-1.3b", ""}, {"nemotron-h-8b", ""},
	} {
		for _, on := range []struct {
			hardware string
			plan     plan.Plan
		}{
			{"8xh200", plan.Plan{TP: 8}}, {"8xh200", plan.Plan{TP: 4, PP: 2}}, {"8xmi300x", plan.Plan{TP: 2, DP: 4}}, {"8xa100-sxm-80gb", plan.Plan{TP: 1, PP: 2}},
		} {
			p := on.plan
			p.Weights, p.Context, p.Sequences = m.weights, 2048, 3
			out = append(out, enginetest.Case{Model: m.model, Hardware: on.hardware, Plan: p})
		}
	}
	return out
}

// sizers runs f over the grid, each case in a few versions; what vLLM refuses is left out.
func sizers(t *testing.T, f func(c enginetest.Case, j *engine.Job, s *sizer)) {
	t.Helper()
	asked := 0
	for i, c := range grid() {
		for n := 0; n < 5; n++ {
			c.Version = versions[(4*n+i)%len(versions)]
			j := c.Job(t)
			Engine{}.Defaults(j)
			if (Engine{}).Check(j) != nil {
				continue
			}
			s, err := Engine{}.Sizer(j)
			if err != nil {
				continue
			}
			asked++
			f(c, j, s.(*sizer))
		}
	}
	if asked < 120 {
		t.Errorf("only %d cases are taken", asked)
	}
}

// TestRankLaws: formulas give their numbers, bands hold them, and pool and fixed parts fill the share.
func TestRankLaws(t *testing.T) {
	sizers(t, func(c enginetest.Case, j *engine.Job, s *sizer) {
		b := &ledger.Book{}
		for _, r := range s.Size(b, j.Load()) {
			enginetest.CheckRank(t, b, &r)
			if t.Failed() {
				t.Fatalf("%s on %s, vLLM %s", c.Model, c.Hardware, c.Version)
			}
		}
	})
}

// TestSameAnswer: a second size, and one with formulas, are the first.
func TestSameAnswer(t *testing.T) {
	sizers(t, func(c enginetest.Case, j *engine.Job, s *sizer) {
		first, again, explained := s.Size(nil, j.Load()), s.Size(nil, j.Load()), s.Size(&ledger.Book{}, j.Load())
		if !reflect.DeepEqual(first, again) {
			t.Errorf("%s on %s: two sizes differ", c.Model, c.Hardware)
		}
		for i := range first {
			for k := range first[i].Items {
				if a, b := first[i].Items[k], explained[i].Items[k]; a.Bytes != b.Bytes || a.Low != b.Low || a.High != b.High || a.ID != b.ID {
					t.Errorf("%s on %s: %s is %d, explained %d", c.Model, c.Hardware, a.Name, a.Bytes, b.Bytes)
				}
			}
			if first[i].KV != explained[i].KV {
				t.Errorf("%s on %s: %+v, explained %+v", c.Model, c.Hardware, first[i].KV, explained[i].KV)
			}
		}
		other, err := Engine{}.Sizer(j)
		if err != nil || !reflect.DeepEqual(first, other.Size(nil, j.Load())) {
			t.Errorf("%s on %s: a second sizer differs (%v)", c.Model, c.Hardware, err)
		}
	})
}

// TestLevel: every rank of a replica has the same number of blocks, which is that of the rank with the least.
func TestLevel(t *testing.T) {
	sizers(t, func(c enginetest.Case, j *engine.Job, s *sizer) {
		ranks := s.Size(nil, j.Load())
		least := int64(1) << 62
		for i := range ranks {
			least = min(least, s.ranks[i].g.blocks(ranks[i].KV.Pool))
		}
		for i := range ranks {
			if ranks[i].KV.Blocks != least || ranks[i].KV.Needed < 0 {
				t.Errorf("%s on %s, rank %d: %d blocks, the least is %d", c.Model, c.Hardware, i, ranks[i].KV.Blocks, least)
			}
		}
	})
}

// TestRests: loading takes at least what is loaded, and its rests are less than a MiB for each block and a
// segment.
func TestRests(t *testing.T) {
	sizers(t, func(c enginetest.Case, j *engine.Job, s *sizer) {
		for i := range s.ranks {
			p := &s.ranks[i]
			blocks := int64(0)
			for _, g := range p.pl.WeightGroups() {
				blocks += g.Count * int64(2*len(g.Tensors))
			}
			if p.rests < 0 || !s.t.rocm && int64(p.rests) > blocks*int64(mib) {
				t.Errorf("%s on %s: rests of %s over %d blocks", c.Model, c.Hardware, p.rests, blocks)
			}
		}
	})
}

// TestMonotone: more context and more sequences never need less; a larger share never leaves fewer tokens, and
// more sequences in a step never more.
func TestMonotone(t *testing.T) {
	for _, model := range []string{"llama-3.1-8b", "gemma-3-27b", "gpt-oss-20b", "qwen3-next-80b-a3b", "mamba-130m", "deepseek-v2-lite"} {
		for _, v := range []engine.Version{engine.V(0, 9, 2), engine.V(0, 12, 0), engine.V(0, 24, 0)} {
			c := enginetest.Case{Model: model, Hardware: "2xh200", Version: v, Plan: plan.Plan{TP: 2, Context: 4096}}
			_, s := c.Sizer(t, Engine{})
			enginetest.CheckMonotone(t, s)
			blocks := func(share float64, seqs plan.Int) int64 {
				c.Plan.GPUMemoryUtilization, c.Plan.MaxSeqs = &share, seqs
				return c.Ranks(t, Engine{})[0].KV.Blocks
			}
			last := int64(-1)
			for _, share := range []float64{0.3, 0.5, 0.7, 0.9, 0.95, 1} {
				n := blocks(share, 64)
				if n < last {
					t.Errorf("%s, vLLM %s: %d blocks at %g, %d before", model, v, n, share, last)
				}
				last = n
			}
			last = 1 << 62
			for _, seqs := range []plan.Int{8, 32, 128, 512, 1024} {
				n := blocks(0.9, seqs)
				// Sorting fewer than 128 requests takes more for each: 50 bytes a logit against 38.
				if n > last && seqs != 128 {
					t.Errorf("%s, vLLM %s: %d blocks with %d sequences, %d before", model, v, n, seqs, last)
				}
				last = n
			}
		}
	}
}
