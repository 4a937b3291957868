package ledger

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/memwall/memwall/unit"
)

func TestFormulaSaysWhatWasComputed(t *testing.T) {
	k := &Book{}
	layers, heads := k.Int("layers", 80, "model"), k.Int("kv_heads", 8, "model")
	tokens := k.PadUp(k.Int("context", 8100, "plan"), k.Lit(256))
	n := k.Mul(k.Lit(2), layers, heads, k.Int("head_dim", 128, "model"), k.Int("bytes", 2, "bf16"), k.Name("tokens", tokens))
	f := k.Formula(n)
	if want := "2 × layers × kv_heads × head_dim × bytes × tokens"; f.Text != want {
		t.Errorf("formula %q, want %q", f.Text, want)
	}
	if got := f.Inputs[len(f.Inputs)-1]; got.Origin != "pad(context, 256)" || got.Value != 8192 {
		t.Errorf("tokens comes from %q = %g", got.Origin, got.Value)
	}
	if v, err := Eval(f.Text, f.Inputs); err != nil || v != n.V {
		t.Errorf("evaluates to %g, %v; computed %g", v, err, n.V)
	}
}

func TestOneNameForTwoValuesIsNumbered(t *testing.T) {
	k := &Book{}
	n := k.Add(k.Mul(k.Int("layers", 10, "full"), k.Lit(3)), k.Mul(k.Int("layers", 52, "sliding"), k.Lit(5)))
	f := k.Formula(n)
	if want := "layers × 3 + layers_2 × 5"; f.Text != want {
		t.Errorf("formula %q, want %q", f.Text, want)
	}
	if v, _ := Eval(f.Text, f.Inputs); v != 290 {
		t.Errorf("evaluates to %g", v)
	}
}

func TestParentheses(t *testing.T) {
	k := &Book{}
	a, b, c := k.Int("a", 7, ""), k.Int("b", 3, ""), k.Int("c", 2, "")
	for _, n := range []Num{
		k.Sub(a, k.Sub(b, c)), k.Sub(k.Sub(a, b), c), k.Mul(k.Add(a, b), c), k.Div(a, k.Mul(b, c)), k.Div(k.Mul(a, b), c),
		k.Sub(a, k.Add(b, c)), k.Max(k.Add(a, b), k.Min(b, c)), k.Floor(k.Div(a, c)), k.CeilDiv(a, c),
		k.Div(a, k.Div(b, c)),
	} {
		f := k.Formula(n)
		if v, err := Eval(f.Text, f.Inputs); err != nil || math.Abs(v-n.V) > 1e-12 {
			t.Errorf("%s = %g by evaluation, %g computed (%v)", f.Text, v, n.V, err)
		}
	}
}

// random builds an expression of some depth.
func random(k *Book, r *rand.Rand, depth int) Num {
	if depth == 0 {
		names := []string{"a", "b", "layers", "tokens", ""}
		name := names[r.IntN(len(names))]
		v := int64(1 + r.IntN(1000))
		if name == "" {
			return k.Lit(float64(v))
		}
		return k.Int(name, v, "test")
	}
	a, b := random(k, r, depth-1), random(k, r, depth-1)
	switch r.IntN(9) {
	case 0:
		return k.Add(a, b)
	case 1:
		return k.Sub(a, b)
	case 2:
		return k.Mul(a, b)
	case 3:
		return k.Max(a, b)
	case 4:
		return k.Min(a, b)
	case 5:
		return k.Name("part", a)
	case 6:
		return k.PadUp(k.Max(a, k.Lit(0)), k.Lit(256))
	case 7:
		return k.CeilDiv(k.Max(a, k.Lit(0)), k.Lit(16))
	}
	return k.Floor(k.Div(a, k.Lit(7)))
}

// TestPrintedFormulasEvaluate: whatever is computed, the printed formula gives the same number.
func TestPrintedFormulasEvaluate(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		k := &Book{}
		n := random(k, r, 1+r.IntN(4))
		if n.V < 0 || math.Abs(n.V) > 1<<50 {
			continue
		}
		f := k.Formula(n)
		v, err := Eval(f.Text, f.Inputs)
		if err != nil || math.Abs(v-n.V) > 1e-9*math.Max(1, math.Abs(n.V)) {
			t.Fatalf("%s with %v = %g, computed %g (%v)", f.Text, f.Inputs, v, n.V, err)
		}
	}
}

// TestNilBookComputesTheSame: without a Book the numbers are equal and nothing is allocated.
func TestNilBookComputesTheSame(t *testing.T) {
	for seed := range uint64(200) {
		with := random(&Book{}, rand.New(rand.NewPCG(seed, 7)), 4)
		without := random(nil, rand.New(rand.NewPCG(seed, 7)), 4)
		if with.V != without.V {
			t.Fatalf("seed %d: %g with a book, %g without", seed, with.V, without.V)
		}
	}
	var none *Book
	if n := testing.AllocsPerRun(100, func() { none.Mul(none.Int("a", 2, ""), none.Add(none.Int("b", 3, ""), none.Lit(4))) }); n != 0 {
		t.Errorf("%g allocations without a book", n)
	}
}

func TestEvalRefuses(t *testing.T) {
	for _, s := range []string{"", "a +", "2 × (3", "f(1, 2)", "floor(1, 2)", "max(1)", "ceil(1, 2)", "1 2", "unknown × 2"} {
		if v, err := Eval(s, nil); err == nil {
			t.Errorf("%q evaluates to %g", s, v)
		}
	}
}

// FuzzEval: what evaluates does so in parentheses too, to the same number.
func FuzzEval(f *testing.F) {
	f.Add("2 × layers × max(a, 3) - (b / 2)")
	f.Fuzz(func(t *testing.T, s string) {
		in := []Input{{Name: "a", Value: 1}, {Name: "b", Value: 2}}
		v, err := Eval(s, in)
		if err != nil {
			return
		}
		if w, err := Eval("("+s+")", in); err != nil || w != v && !(math.IsNaN(v) && math.IsNaN(w)) {
			t.Errorf("%s = %g, in parentheses %g, %v", s, v, w, err)
		}
	})
}

func item(id string, b, low, high unit.Bytes) Item {
	return Item{ID: id, Bytes: b, Low: low, High: high}
}

func TestSum(t *testing.T) {
	s := Sum([]Item{item("a", 100, 100, 100), item("b", 50, 47, 54), {ID: "c", Bytes: 10, Low: 6, High: 13, Basis: Assumed}})
	if s.Bytes != 160 || s.Low != 155 || s.High != 165 || s.Basis != Assumed {
		t.Errorf("%+v", s)
	}
	if s := Sum([]Item{item("a", 5, 5, 5), {ID: "b", Unknown: true}}); !s.Unknown || s.Bytes != 5 {
		t.Errorf("%+v", s)
	}
}

func TestBandKeepsTheValueInside(t *testing.T) {
	it := Known("x", "x", Num{V: 100}, Measured, Persistent, Device, "")
	if b := it.Band(120, 90); b.Low != 100 || b.High != 100 {
		t.Errorf("%d..%d around 100", b.Low, b.High)
	}
}

func TestWordsRoundTrip(t *testing.T) {
	for b := Exact; b <= Assumed; b++ {
		text, err := json.Marshal(b)
		var back Basis
		if err != nil || json.Unmarshal(text, &back) != nil || back != b {
			t.Errorf("%v becomes %s becomes %v", b, text, back)
		}
	}
	var b Basis
	if err := json.Unmarshal([]byte(`"guessed"`), &b); err == nil {
		t.Error("an unknown basis is read")
	}
}
