package model_test

import (
	"math"
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/unit"
)

func experts(m *model.Model) *model.Experts {
	var e *model.Experts
	m.Decoder().Each(func(k *model.Kind, _ int64) {
		for i := range k.Ops {
			if k.Ops[i].Moe != nil {
				e = k.Ops[i].Moe
			}
		}
	})
	return e
}

func cost(m *model.Model, step model.Step) model.Cost {
	w := m.Store(dtype.FindRecipe("bf16"))
	e := model.Exec{Absorb: step.Tokens == step.Seqs, ActBytes: 2, KVBytes: 2, StateBytes: 4, Spans: m.Spans()}
	c := m.Decoder().Compile(&w.Parts[0], &e)
	f := step.Features(e.Spans, experts(m))
	return c.Eval(&f)
}

// TestDecodeCost: one token after 4,095 cached ones. Weights read are the active parameters (embedding by
// the row), arithmetic is about two operations for each.
func TestDecodeCost(t *testing.T) {
	for _, c := range []struct {
		id                    string
		gflop, weights, cache float64 // GFLOP, GB, GB
	}{
		{"qwen3-8b", 17.56, 15.14, 0.604},
		{"kimi-k2", 98.2, 63.4, 0.288},
		{"granite-4.0-h-tiny", 3.15, 2.94, 0.0916},
	} {
		got := cost(build(t, c.id), model.Step{Tokens: 1, Seqs: 1, Outputs: 1, Context: 4095})
		for _, x := range []struct {
			what      string
			got, want float64
		}{{"GFLOP", float64(got.FLOPs) / 1e9, c.gflop}, {"weights", got.Weights / 1e9, c.weights},
			{"cache", got.CacheRead / 1e9, c.cache}} {
			if math.Abs(x.got-x.want) > 0.02*x.want {
				t.Errorf("%s: %s %.4g, want %.4g", c.id, x.what, x.got, x.want)
			}
		}
	}
}

// TestPrefillIsTwoFlopsPerParameter: a dense model's prompt costs 2 × parameters per token plus attention.
func TestPrefillIsTwoFlopsPerParameter(t *testing.T) {
	m := build(t, "llama-3.1-8b")
	const n = 2048
	got := float64(cost(m, model.Step{Tokens: n, Seqs: 1, Outputs: 1}).FLOPs)
	blocks := float64(m.Params() - 2*m.Vocab*m.Hidden)
	want := 2*blocks*n + 2*float64(m.Vocab*m.Hidden) + 32*4*32*128*n*(n+1)/2
	if math.Abs(got-want) > 0.01*want {
		t.Errorf("%.4g FLOP, want %.4g", got, want)
	}
}

// TestWindowPairs against counting.
func TestWindowPairs(t *testing.T) {
	for _, c := range []struct{ tokens, context, window int64 }{{1, 0, 4}, {10, 0, 4}, {10, 3, 4}, {7, 100, 16}, {16, 8, 64}, {5, 62, 64}} {
		s := model.Step{Tokens: c.tokens, Seqs: 1, Context: c.context}
		f := s.Features([]int64{c.window}, nil)
		pairs := 0.0
		for i := range c.tokens {
			pairs += float64(min(c.window, c.context+i+1))
		}
		if got := f[len(f)-2*model.MaxSpans]; got != pairs {
			t.Errorf("%+v: %g pairs, counted %g", c, got, pairs)
		}
	}
}

// TestTouchedExperts: one token touches as many as it uses; many tokens touch all.
func TestTouchedExperts(t *testing.T) {
	e := &model.Experts{N: 128, Used: 8}
	if got := model.TouchedExperts(e, 1); math.Abs(got-8) > 1e-9 {
		t.Errorf("one token touches %g of 8", got)
	}
	if got := model.TouchedExperts(e, 1e4); math.Abs(got-128) > 1e-3 {
		t.Errorf("ten thousand tokens touch %g of 128", got)
	}
}

// TestStoredIsParameters: in two bytes a number, plain storage is twice the parameters, for every model.
func TestStoredIsParameters(t *testing.T) {
	for _, e := range catalog.All() {
		m := build(t, e.ID)
		n := m.Params()
		if p := m.Part(model.PartMTP); p != nil {
			n += p.Params()
		}
		if got, want := m.Store(dtype.FindRecipe("bf16")).Bytes(), unit.Bytes(2*n); got != want {
			t.Errorf("%s: %d bytes in bf16, want %d", e.ID, got, want)
		}
	}
}

// TestActive: published active parameters, to their rounding. gpt-oss publishes 5.1 B without its embedding
// of 0.58 B.
func TestActive(t *testing.T) {
	for id, want := range map[string]float64{"mixtral-8x7b": 12.9, "deepseek-v3": 37, "kimi-k2": 32, "qwen3-30b-a3b": 3.3,
		"qwen3-235b-a22b": 22, "gpt-oss-120b": 5.7, "glm-4.5": 32} {
		got := float64(build(t, id).ActiveParams()) / 1e9
		if math.Abs(got-want) > 0.05*want+0.3 {
			t.Errorf("%s: %.2f B active, published %.1f", id, got, want)
		}
	}
}

// TestCrossCost: a token of Whisper's decoder reads the keys and values of 1,500 frames however long its own text is, and
// multiplies by none of the matrices that made them.
func TestCrossCost(t *testing.T) {
	const layers, width, frames = 6, 512, 1500
	m := build(t, "whisper-base")
	at := func(context int64) model.Cost {
		return cost(m, model.Step{Tokens: 1, Seqs: 1, Outputs: 1, Context: context})
	}
	if got, want := at(99).CacheRead, float64(layers*2*2*width*(frames+100)); got != want {
		t.Errorf("%g bytes of cache are read, want %g", got, want)
	}
	if got, want := at(199).CacheRead-at(99).CacheRead, float64(layers*2*2*width*100); got != want {
		t.Errorf("100 more tokens read %g bytes more, want %g", got, want)
	}
	own := float64(m.Decoder().Params() - layers*(2*width*width+width)) // keys and values of the source
	if got, want := at(99).Weights, 2*(own-51865*width-448*width+2*width)+2*51865*width; got != want {
		t.Errorf("%g bytes of weights are read, want %g", got, want)
	}
}
