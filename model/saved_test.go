package model_test

import (
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/catalog/catalogtest"
)

// build gives a model of the catalog.
func build(t testing.TB, id string) *model.Model {
	t.Helper()
	return catalogtest.Model(t, id)
}

// TestSavedDense: one block of Mistral 7B against the rules measured on 244 runs of transformers 4.45 to
// 4.48 (bytes per token): norms 16h, queries 2A, keys and values 4K, output and log-sum 2A+4a, gated
// MLP 8f; frozen 8h, 6f; fused norms 6h.
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
