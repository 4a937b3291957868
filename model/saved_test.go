package model_test

import (
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/catalog/catalogtest"
	"github.com/memwall/memwall/shard"
)

// build gives a model of the catalog.
func build(t testing.TB, id string) *model.Model {
	t.Helper()
	return catalogtest.Model(t, id)
}

// TestSavedDense: one block of Mistral 7B against the rules measured on 244 runs of transformers 4.45 to
// 4.48 (bytes per token): norms 16h, queries 2A, keys and values 4K, output and log-sum 2A+4a, gated
// MLP 8f; frozen 8h, 6f; fused norms 6h. In fp32 all but the log-sum takes twice as much, and a norm's copy in fp32 is its
// input, which the block that it enters keeps.
func TestSavedDense(t *testing.T) {
	k := &build(t, "mistral-7b-v0.3").Decoder().Kinds[0]
	const h, A, K, a, f = 4096, 4096, 1024, 32, 14336
	for _, c := range []struct {
		name  string
		style model.Style
		want  int64
	}{
		{"full", model.Style{}, 16*h + 2*A + 4*K + 2*A + 4*a + 8*f},
		{"frozen base", model.Style{Frozen: true}, 8*h + 2*A + 4*K + 2*A + 4*a + 6*f},
		{"full, fused norms", model.Style{FusedNorm: true}, 6*h + 2*A + 4*K + 2*A + 4*a + 8*f},
		{"full, fp32", model.Style{Width: 4}, 20*h + 2*(2*A+4*K+2*A+8*f) + 4*a},
		{"frozen base, fp32", model.Style{Width: 4, Frozen: true}, 4*h + 2*(2*A+4*K+2*A+6*f) + 4*a},
		{"full, fused norms, fp32", model.Style{Width: 4, FusedNorm: true}, 2*(6*h+2*A+4*K+2*A+8*f) + 4*a},
		{"full, repeated KV", model.Style{RepeatKV: true}, 16*h + 2*A + 4*A + 2*A + 4*a + 8*f},
	} {
		if got := k.SavedBytes(c.style); got != c.want {
			t.Errorf("%s: %d B per token, want %d (%v)", c.name, got, c.want, k.Saved(c.style))
		}
	}
	if got, want := k.BackwardPeak(model.Style{}), int64(4*f+4*h); got != want {
		t.Errorf("backward peak, full: %d, want %d", got, want)
	}
	if got, want := k.BackwardPeak(model.Style{Frozen: true}), int64(6*f+4*h); got != want {
		t.Errorf("backward peak, frozen base: %d, want %d", got, want)
	}
}

// TestSavedAdapters: an adapter with dropout keeps a copy of its input and a mask of one byte.
func TestSavedAdapters(t *testing.T) {
	k := &build(t, "mistral-7b-v0.3").Decoder().Kinds[0]
	qv := func(x *model.Tensor) bool { return x.Role == dtype.AttnQ || x.Role == dtype.AttnV }
	base := k.SavedBytes(model.Style{Frozen: true})
	got := k.SavedBytes(model.Style{Frozen: true, Adapts: qv, Dropout: true})
	if want := base + 2*3*4096; got != want {
		t.Errorf("q and v adapters: %d B per token, want %d", got, want)
	}
}

// TestSavedOthers: latent attention with experts and a hybrid go through the same rules; more trains,
// more is kept.
func TestSavedOthers(t *testing.T) {
	for _, id := range []string{"kimi-k2", "granite-4.0-h-tiny", "qwen3-next-80b-a3b", "jamba-v0.1"} {
		p := build(t, id).Decoder()
		for i := range p.Kinds {
			full, frozen := p.Kinds[i].SavedBytes(model.Style{}), p.Kinds[i].SavedBytes(model.Style{Frozen: true})
			if frozen <= 0 || full <= frozen {
				t.Errorf("%s, %s: %d full, %d frozen", id, p.Kinds[i].Name, full, frozen)
			}
		}
	}
}

// gpt is a block of the first transformers with dropout: fused layer norms, scores written out in 16 bits (2 bytes of the
// softmax, 1 of its mask, 2 of what dropout leaves).
var gpt = model.Style{FusedNorm: true, Scores: 5, HiddenDropout: true}

// TestGPTBlock: a block of a GPT keeps s·b·h·(34 + 5·a·s/h) bytes, its input among them; cut t ways by tensor parallelism
// s·b·h·(10 + 24/t + 5·a·s/(h·t)), and with sequence parallelism all of it over t (arXiv:2205.05198, table 2).
func TestGPTBlock(t *testing.T) {
	p := build(t, "gpt2-xl").Decoder()
	k := &p.Kinds[0]
	const h, a = 1600, 25
	if got, entry := k.SavedWithEntry(gpt); got+2*h != 34*h || !entry {
		t.Errorf("%.0f bytes a token, want %d: %v", got+2*h, 34*h, k.Saved(gpt))
	}
	if got := k.SavedScores(gpt); got != 5*a {
		t.Errorf("%d bytes a token and position, want %d", got, 5*a)
	}
	for _, n := range []int64{5, 25} {
		groups := shard.Parallel{TP: n}.Normal()
		local := groups.Kind(k, groups.Coord(0))
		if got := local.SavedBytes(gpt) + 2*h; got != 10*h+24*h/n || local.SavedScores(gpt) != 5*a/n {
			t.Errorf("cut %d ways: %d bytes a token, want %d; %d of scores", n, got, 10*h+24*h/n, local.SavedScores(gpt))
		}
		shared := gpt
		shared.Stream = n
		if got := local.SavedBytes(shared) + 2*h/n; got != 34*h/n {
			t.Errorf("norms shared too: %d bytes a token, want %d", got, 34*h/n)
		}
	}
}
