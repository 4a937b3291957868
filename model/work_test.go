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
		}{{"FLOPs", w.FLOPs(step), float64(want.FLOPs)}, {"weights", w.Weights(step), want.Weights},
			{"cache", w.Cache(step), want.CacheRead + want.CacheWrite}} {
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

// TestSparseWork: where nobody says how many positions layers choose, nothing depends on how much is cached; where
// it is known, what is chosen stops growing there and only the indexer goes on.
func TestSparseWork(t *testing.T) {
	m := build(t, "deepseek-v3.2")
	at := func(context int64) model.Step { return model.Step{Tokens: 1, Seqs: 1, Outputs: 1, Context: context} }
	w := work(m)
	far, near := model.Total(w.Cache(at(60000)))-model.Total(w.Cache(at(50000))),
		model.Total(w.Cache(at(1500)))-model.Total(w.Cache(at(500)))
	if perKey := 61 * 128 * (1 + 4.0/128); math.Abs(far-10000*perKey) > 1 || near <= 1000*perKey {
		t.Errorf("10,000 positions far away read %g bytes, the indexer's keys are %g; 1,000 near ones %g", far, 10000*perKey, near)
	}
	m.Decoder().Each(func(k *model.Kind, _ int64) {
		for i := range k.Ops {
			if a := k.Ops[i].Attn; a != nil {
				a.Chosen = 0
			}
		}
	})
	w = work(m)
	if !w.Sparse || model.Total(w.FLOPs(at(60000))) != model.Total(w.FLOPs(at(10))) {
		t.Errorf("sparse %v, and operations grow where nobody knows how many positions are chosen", w.Sparse)
	}
}

// TestBatchReadsNoMoreThanThereIs: a batch never reads more weights than are stored, those of shared blocks as often
// as they are used.
func TestBatchReadsNoMoreThanThereIs(t *testing.T) {
	for _, id := range catalog.IDs() {
		m := build(t, id)
		w := work(m)
		at := func(n, context int64) model.Step { return model.Step{Tokens: n, Seqs: n, Outputs: n, Context: context} }
		stored := m.Store(dtype.FindRecipe("bf16")).Bytes() + 2*unit.Bytes(sharedAgain(m.Decoder()))
		if got := model.Total(w.Weights(at(1000, 10))); got > 1.01*float64(stored)+1000*float64(m.Hidden)*4 || got <= 0 {
			t.Errorf("%s: a thousand users read %g of %d bytes", id, got, stored)
		}
	}
}
