package quality

import (
	"math"
	"strings"
	"testing"

	"github.com/memwall/memwall/dtype"
)

// TestOwn: errors of one's own weights stand in place of rows, worth what rows of such models say an error is worth:
// twice the error is four times the loss. What was not measured keeps its row.
func TestOwn(t *testing.T) {
	m := Model{ID: "llama-3-8b", Parameters: 8e9}
	m.Own = NewOwn(m, map[string]float64{"q4_k_m": 0.07, "q6_k": 0.02, "q3_k_m": 0.14})
	four, six := OfWeights(m, "bf16", "q4_k_m").Perplexity, OfWeights(m, "bf16", "q6_k").Perplexity
	three := OfWeights(m, "bf16", "q3_k_m").Perplexity
	if math.Abs(three.Mid/four.Mid-4) > 1e-9 || math.Abs(four.Mid/six.Mid-12.25) > 1e-9 || three.Low*0.99 > three.Mid ||
		three.High < three.Mid {
		t.Errorf("%v, %v and %v", six.Mid, four.Mid, three.Mid)
	}
	if four.Metric.Name != decisive || four.Level.String() != "weights" ||
		!strings.HasPrefix(four.Source.Citation, "measured on these weights: an error of 7 %") {
		t.Errorf("%+v of %s, %s", four, four.Metric.Name, four.Source.Citation)
	}
	if back := OfWeights(m, "q4_k_m", "q6_k").Perplexity; math.Abs(back.Mid-(six.Mid-four.Mid)) > 1e-9 || back.Low > back.High {
		t.Errorf("back by %+v", back)
	}
	plain := Model{ID: m.ID, Parameters: m.Parameters}
	if got, want := OfWeights(m, "bf16", "q5_k_m").Perplexity,
		OfWeights(plain, "bf16", "q5_k_m").Perplexity; got == nil || got.Mid != want.Mid {
		t.Errorf("q5_k_m: %+v, want %+v", got, want)
	}
	published := OfWeights(plain, "bf16", "q4_k_m").Perplexity
	if four.Mid < published.Mid/4 || four.Mid > published.Mid*4 {
		t.Errorf("an error of 7 %% is worth %.2f %%, published %.2f %%", four.Mid, published.Mid)
	}
}

// TestOwnOrder: a format that measures worse comes later, whatever the rows say; and where no row says what an error is
// worth the errors alone order.
func TestOwnOrder(t *testing.T) {
	for _, m := range []Model{{ID: "llama-3-8b", Parameters: 8e9}, {ID: "nobody-measured-1t", Parameters: 1e15}} {
		m.Own = NewOwn(m, map[string]float64{"q4_k_m": 0.2, "q3_k_m": 0.1, "q8_0": 0.005})
		o := NewOrder(m)
		place := func(name string) Rank { return o.Weights(dtype.FindRecipe(name)) }
		if Compare(place("q8_0"), place("q3_k_m")) >= 0 || Compare(place("q3_k_m"), place("q4_k_m")) >= 0 {
			t.Errorf("%s: %v, %v, %v", m.ID, place("q8_0").Loss(), place("q3_k_m").Loss(), place("q4_k_m").Loss())
		}
		if known := m.Own.scale != nil; known != (place("q4_k_m").Guess == "") || !known &&
			OfWeights(m, "bf16", "q4_k_m").Perplexity.Metric.Name != OwnError {
			t.Errorf("%s: guess %q", m.ID, place("q4_k_m").Guess)
		}
	}
}
