package quality

import (
	"math"
	"slices"
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/stat"
)

func ranks(o *Order) (all []Rank) {
	for _, r := range dtype.Recipes() {
		all = append(all, o.Weights(r))
	}
	return all
}

func cacheRanks(o *Order) (all []Rank) {
	formats := []*dtype.Format{dtype.F32, dtype.BF16, dtype.F16, dtype.Q8_0, dtype.Q5_1, dtype.Q5_0, dtype.Q4_1, dtype.Q4_0, dtype.IQ4_NL,
		dtype.FP8E4M3, dtype.FP4E2M1, dtype.I8}
	for _, k := range formats {
		for _, v := range formats {
			all = append(all, o.Cache(k, v))
		}
	}
	return all
}

// models to order for: measured, in a family, of like size, unknown.
var orders = []Model{{ID: "llama-3-8b", Parameters: 8e9}, {ID: "llama-3.1-70b", Parameters: 70e9}, {ID: "qwen3-30b-a3b", Parameters: 30e9},
	{ID: "olmo2-7b", Parameters: 7e9}, {Parameters: 1e12}, {}}

// TestTotal: of two places one is before the other, whatever third stands between; only a format itself is equal.
func TestTotal(t *testing.T) {
	for _, m := range orders {
		for _, all := range [][]Rank{ranks(NewOrder(m)), cacheRanks(NewOrder(m))} {
			for i, a := range all {
				for j, b := range all {
					if ab, ba := Compare(a, b), Compare(b, a); ab != -ba || (ab == 0) != (i == j) {
						t.Fatalf("%+v: %s and %s compare as %d and %d", m, a.Name, b.Name, ab, ba)
					}
				}
			}
			sorted := slices.SortedFunc(slices.Values(all), Compare)
			for i := 2; i < len(sorted); i++ {
				if Compare(sorted[i-2], sorted[i]) >= 0 {
					t.Fatalf("%+v: %s is not before %s", m, sorted[i-2].Name, sorted[i].Name)
				}
			}
		}
	}
}

// TestOrderFollowsRows: less loss stands first where rows tell it, 16 bits before all.
func TestOrderFollowsRows(t *testing.T) {
	for _, m := range orders {
		all := ranks(NewOrder(m))
		for _, a := range all {
			pa := a.Effect.Perplexity
			if a.Guess == "" && !Wide(dtype.FindRecipe(a.Name)) && pa == nil {
				t.Errorf("%+v: nothing decides %s and it is not a guess", m, a.Name)
			}
			for _, b := range all {
				if pb := b.Effect.Perplexity; a.Guess == "" && b.Guess == "" && pa != nil && pb != nil && pa.Mid > max(0, pb.Mid) &&
					!Wide(dtype.FindRecipe(a.Name)) && Compare(a, b) < 0 {
					t.Errorf("%+v: %s loses %.3f %% and stands before %s with %.3f %%", m, a.Name, pa.Mid, b.Name, pb.Mid)
				}
			}
		}
	}
}

// TestGuesses: they say so, prefer more bits, and stay between the known ones whose bits are around theirs.
func TestGuesses(t *testing.T) {
	for _, m := range orders {
		for _, all := range [][]Rank{ranks(NewOrder(m)), cacheRanks(NewOrder(m))} {
			guessed := 0
			for _, a := range all {
				if a.Guess == "" {
					continue
				}
				guessed++
				if a.Guess != ByBits && a.Name != "sparse-2:4" {
					t.Errorf("%s: %q", a.Name, a.Guess)
				}
				for _, b := range all {
					if a.Guess == ByBits && b.Guess != "" && a.Bits > b.Bits && Compare(a, b) > 0 {
						t.Errorf("%+v: %s of %g bits stands behind %s of %g", m, a.Name, a.Bits, b.Name, b.Bits)
					}
				}
			}
			if guessed == 0 {
				t.Errorf("%+v: nothing is a guess", m)
			}
		}
	}
	o := NewOrder(eight)
	recipe := func(name string) Rank { return o.Weights(dtype.FindRecipe(name)) }
	if fp8 := recipe("fp8"); fp8.Guess == "" || Compare(recipe("q8_0"), fp8) > 0 || Compare(fp8, recipe("q6_k")) > 0 {
		t.Errorf("8 bits are not between 8.5 and 6.6: %+v", fp8)
	}
}

// TestBitsOfTheModel: a recipe that leaves most of a model alone is ranked by what it leaves; one that prunes is last.
func TestBitsOfTheModel(t *testing.T) {
	m := eight
	m.Bits = func(r *dtype.Recipe) float64 {
		if r.Name == "mxfp4" { // a dense model has no experts
			return 16
		}
		return r.BulkBits()
	}
	o := NewOrder(m)
	mxfp4, q8 := o.Weights(dtype.FindRecipe("mxfp4")), o.Weights(dtype.FindRecipe("q8_0"))
	if Compare(mxfp4, q8) > 0 || mxfp4.Guess == "" {
		t.Errorf("%+v stands behind %+v", mxfp4, q8)
	}
	all := ranks(o)
	if last := slices.MaxFunc(all, Compare); last.Name != "sparse-2:4" || last.Guess != Last {
		t.Errorf("%+v is last", last)
	}
}

// TestNative: the recipe that the makers publish loses nothing, and does not lift its neighbours.
func TestNative(t *testing.T) {
	plain, native := NewOrder(Model{ID: "gpt-oss-120b", Parameters: 117e9}),
		NewOrder(Model{ID: "gpt-oss-120b", Parameters: 117e9, Native: "mxfp4"})
	mxfp4, q8 := dtype.FindRecipe("mxfp4"), dtype.FindRecipe("q8_0")
	if Compare(plain.Weights(mxfp4), plain.Weights(q8)) < 0 {
		t.Error("4 bits of a model of 16 stand before 8")
	}
	if r := native.Weights(mxfp4); r.Guess != "" || Compare(r, native.Weights(q8)) > 0 {
		t.Errorf("what is published stands behind 8 bits: %+v", r)
	}
	for _, name := range []string{"mxfp4-all", "int4", "q8_0"} {
		if r := dtype.FindRecipe(name); Compare(plain.Weights(r), native.Weights(r)) != 0 {
			t.Errorf("%s moved", name)
		}
	}
}

// TestFalling: anchors of equal bits are one, and losses do not shrink with the bits.
func TestFalling(t *testing.T) {
	got := falling([]anchor{{4.5, 3}, {8.5, 0.1}, {4.25, 2}, {4.5, 7}, {16, 0}})
	want := []anchor{{16, 0}, {8.5, 0.1}, {4.5, 5}, {4.25, 5}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestFewBits: below 4.5 bits the losses of published rows of a model grow as rounding noise does, fourfold a bit, and at about 4.5
// bits they are about usualLoss.
func TestFewBits(t *testing.T) {
	var growth, losses []float64
	for _, e := range catalog.All() {
		spec, err := e.Spec()
		if err != nil {
			t.Fatal(err)
		}
		o := NewOrder(Model{ID: e.ID, Parameters: spec.Model(e.ID).Params()})
		four := o.weights["q4_k_m"]
		for _, r := range o.weights {
			if !ofItself(&four) || !ofItself(&r) || four.key <= 0 {
				continue
			}
			switch {
			case r.Bits < 4 && r.key > four.key:
				growth = append(growth, math.Log2(r.key/four.key)/(four.Bits-r.Bits))
			case r.Bits > 4.2 && r.Bits < 5:
				losses = append(losses, r.key)
			}
		}
	}
	if n, g := len(growth), stat.Median(growth); n < 10 || g < 1.6 || g > 2.4 {
		t.Errorf("%d rows grow by 2^%.2f a bit", n, g)
	}
	if n, l := len(losses), stat.Median(losses); n < 10 || l < usualLoss/1.5 || l > usualLoss*1.5 {
		t.Errorf("%d rows of about 4.5 bits lose %.2f %%", n, l)
	}
}

// ofItself reports whether a row of the model itself decides its place.
func ofItself(r *Rank) bool {
	return r.Guess == "" && r.Effect.Perplexity != nil && r.Effect.Perplexity.Level == Exact
}

// TestCachesOfAnyModel: of a model that no row is near, eight bits of a key cost what rows of other models say, far from what a bit of a
// weight does.
func TestCachesOfAnyModel(t *testing.T) {
	q8, q4 := dtype.FindFormat("q8_0"), dtype.FindFormat("q4_0")
	for _, m := range []Model{{ID: "llama-3.3-70b", Parameters: 70e9}, {ID: "llama-3.1-405b", Parameters: 405e9}, {ID: "of-nobody"}} {
		o := NewOrder(m)
		eight, four := o.Cache(q8, q8).Loss(), o.Cache(q4, q4).Loss()
		if eight <= 0 || eight > 0.2 || four < 2*eight || four > 5 {
			t.Errorf("%s: q8_0 costs %.3g %%, q4_0 %.3g %%", m.ID, eight, four)
		}
	}
}
