package model_test

import (
	"math"
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/unit"
)

func work(m *model.Model) model.Work {
	return m.Work(m.Store(dtype.FindRecipe("bf16")), model.Exec{Absorb: true, ActBytes: 2, KVBytes: 2, StateBytes: 4})
}

// TestWorkIsTheCost: terms add up to what the compiled coefficients give.
func TestWorkIsTheCost(t *testing.T) {
	step := model.Step{Tokens: 4, Seqs: 4, Outputs: 4, Context: 5000}
	for _, id := range []string{"llama-3.1-8b", "deepseek-v3", "gemma-3-27b", "granite-4.0-h-tiny", "qwen3-next-80b-a3b", "gpt-oss-20b"} {
		m := build(t, id)
		w, want := work(m), cost(m, step)
		for _, x := range []struct {
			what string
			got  []model.Term
			want float64
		}{{"FLOPs", w.FLOPs(step), float64(want.FLOPs)}, {"weights", w.Weights(step), want.Weights}, {"cache", w.Cache(step), want.CacheRead + want.CacheWrite}} {
			if got := model.Total(x.got); w.Sparse || math.Abs(got-x.want) > 1e-9*x.want {
				t.Errorf("%s: %s %g, want %g", id, x.what, got, x.want)
			}
		}
	}
}

// sharedAgain counts the elements that layers read of blocks which earlier ones hold.
func sharedAgain(p *model.Part) (n int64) {
	for i := range p.Kinds {
		for j := range p.Kinds[i].Ops {
			if o := &p.Kinds[i].Ops[j]; o.Lent && o.Kind != model.Rope {
				for _, t := range o.W {
					n += p.Counts[i] * t.Elems()
				}
			}
		}
	}
	return n
}

// TestSparseWork: where layers choose what they read, nothing depends on how much is cached;
// and a batch never reads more weights than there are, those of shared blocks as often as they are used.
func TestSparseWork(t *testing.T) {
	sparse := 0
	for _, id := range catalog.IDs() {
		m := build(t, id)
		w := work(m)
		at := func(n, context int64) model.Step { return model.Step{Tokens: n, Seqs: n, Outputs: n, Context: context} }
		grows := model.Total(w.FLOPs(at(1, 60000))) > model.Total(w.FLOPs(at(1, 10)))
		if w.Sparse {
			if sparse++; grows {
				t.Errorf("%s: sparse attention grows", id)
			}
		}
		stored := m.Store(dtype.FindRecipe("bf16")).Bytes() + 2*unit.Bytes(sharedAgain(m.Decoder()))
		if got := model.Total(w.Weights(at(1000, 10))); got > 1.01*float64(stored)+1000*float64(m.Hidden)*4 || got <= 0 {
			t.Errorf("%s: a thousand users read %g of %d bytes", id, got, stored)
		}
	}
	if sparse == 0 || sparse > 40 {
		t.Errorf("%d models are sparse", sparse)
	}
}
