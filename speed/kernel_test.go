package speed_test

import (
	"math"
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/catalog/catalogtest"
	"github.com/memwall/memwall/shard"
	"github.com/memwall/memwall/speed"
)

// places gives the ranks of a catalog model, stored by a recipe.
func places(t testing.TB, id, recipe string, p shard.Parallel) (*model.Model, *model.Weights, []engine.Placed) {
	t.Helper()
	m := catalogtest.Model(t, id)
	w := m.Store(dtype.FindRecipe(recipe))
	out, err := engine.Place(m.Decoder(), &w.Parts[0], p)
	if err != nil {
		t.Fatal(err)
	}
	return m, w, out
}

var exec = model.Exec{ActBytes: 2, KVBytes: 2, StateBytes: 4}

// TestKernelsAreTheWork: the kernels of one rank sum to the model's own work, in operations and bytes.
func TestKernelsAreTheWork(t *testing.T) {
	for _, id := range []string{"llama-3.1-8b", "deepseek-v3", "qwen3-next-80b-a3b", "gemma-3-27b", "gpt-oss-20b", "nemotron-h-8b"} {
		m, w, ranks := places(t, id, "bf16", shard.Parallel{})
		r := speed.Walk(m, &ranks[0], exec, nil)
		e := exec
		e.Absorb = true
		e.Spans = m.Spans()
		all := m.Decoder().Compile(&w.Parts[0], &e)
		p := r.Points(speed.Batch{Decodes: 5, Context: 3000})
		want := all.Eval(&p.Both)
		got := r.Work(&p)
		for _, c := range []struct {
			what      string
			got, want float64
		}{{"operations", got.FLOPs, float64(want.FLOPs)}, {"weights", got.Weights, want.Weights},
			{"cache", got.CacheRead, want.CacheRead}} {
			if math.Abs(c.got-c.want) > 1e-6*c.want {
				t.Errorf("%s: kernels sum to %g of %s, the model has %g", id, c.got, c.what, c.want)
			}
		}
	}
}

// TestRanksShareTheWork: over the ranks of a tensor group, weights that are cut sum to the whole, and
// attention's operations do.
func TestRanksShareTheWork(t *testing.T) {
	for _, id := range []string{"llama-3.1-70b", "qwen3-235b-a22b"} {
		m, w, ranks := places(t, id, "bf16", shard.Parallel{TP: 4})
		var held, flops float64
		for i := range ranks {
			r := speed.Walk(m, &ranks[i], exec, nil)
			held += float64(r.Weights) * float64(ranks[i].Count)
			p := r.Points(speed.Batch{Prefill: 2048, Prompts: 1, Finished: 1})
			flops += r.Work(&p).FLOPs * float64(ranks[i].Count)
		}
		whole, _, one := places(t, id, "bf16", shard.Parallel{})
		r := speed.Walk(whole, &one[0], exec, nil)
		p := r.Points(speed.Batch{Prefill: 2048, Prompts: 1, Finished: 1})
		if all := r.Work(&p).FLOPs; flops < all || flops > 1.02*all {
			t.Errorf("%s: four ranks do %g operations, one does %g", id, flops, all)
		}
		if all := float64(w.Parts[0].Bytes()); held < all || held > 1.03*all {
			t.Errorf("%s: four ranks hold %g bytes, the model has %g", id, held, all)
		}
	}
}

// TestStagesBorrow: what later stages of a pipeline borrow from the front (a tied head, rotary factors) has its bytes.
func TestStagesBorrow(t *testing.T) {
	for _, id := range []string{"llama-3.1-8b", "gemma-3-27b", "mamba2-2.7b"} {
		m, _, ranks := places(t, id, "bf16", shard.Parallel{PP: 2})
		_, last := speed.Kernels(m, &ranks[len(ranks)-1], exec)
		head := last[len(last)-1]
		if got, want := head.Decode.Weights[model.One], 2*float64(m.Vocab*m.Hidden); got < 0.9*want {
			t.Errorf("%s: the head of the last stage reads %g bytes of %g", id, got, want)
		}
	}
}

// TestMergeKeepsTheSum: fused launches do the same work with fewer kernels.
func TestMergeKeepsTheSum(t *testing.T) {
	m, _, ranks := places(t, "qwen3-30b-a3b", "fp8", shard.Parallel{TP: 2})
	r, list := speed.Kernels(m, &ranks[0], exec)
	p := r.Points(speed.Batch{Decodes: 16, Context: 1000, Prefill: 512, Prompts: 1})
	var fused []speed.Kernel
	fuse := speed.Fuser{To: func(k *speed.Kernel) { fused = append(fused, *k) }}
	for i := range list {
		fuse.Add(&list[i])
	}
	fuse.Flush()
	was, is := weightsAndOperations(list, &p), weightsAndOperations(fused, &p)
	if math.Abs(is[0]-was[0]) > 1 || is[1] != was[1] || len(fused) >= len(list) {
		t.Errorf("%d kernels read and do %g, %d did %g", len(fused), is, len(list), was)
	}
	if w := r.Work(&p); math.Abs(w.Weights-was[0]) > 1e-9*was[0] || math.Abs(w.FLOPs-was[1]) > 1e-9*was[1] {
		t.Errorf("the rank sums to %+v, its kernels to %g", w, was)
	}
}

// weightsAndOperations of a list, one by one.
func weightsAndOperations(list []speed.Kernel, p *speed.Points) (sum [2]float64) {
	for i := range list {
		decode, prefill, both := list[i].Cost(p)
		for _, c := range []model.Cost{decode, prefill, both} {
			sum[0] += float64(list[i].Count) * c.Weights
			sum[1] += float64(list[i].Count) * float64(c.FLOPs)
		}
	}
	return sum
}

func BenchmarkWalk(b *testing.B) {
	m, _, ranks := places(b, "llama-3.1-70b", "bf16", shard.Parallel{TP: 4})
	b.ReportAllocs()
	for b.Loop() {
		speed.Walk(m, &ranks[0], exec, nil)
	}
}
