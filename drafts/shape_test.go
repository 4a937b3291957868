package drafts

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestChain: 1 + a + a² + … of a chain (arXiv:2211.17192, equation 1).
func TestChain(t *testing.T) {
	if got := Expected(Shape{Tokens: 4}.Survival(0.8)); math.Abs(got-3.3616) > 1e-9 {
		t.Errorf("four tokens at 0.8 yield %v, want 3.3616", got)
	}
}

// TestTree by hand: with two branches and two steps at 0.5 the first two nodes have 1/2 and 1/4; the children of the first 1/4 and 1/8,
// of the second 1/8 and 1/16. Of four that are verified 1/2, 1/4, 1/4 and 1/8.
func TestTree(t *testing.T) {
	got := Shape{Tokens: 4, Steps: 2, Branches: 2}.Survival(0.5)
	if len(got) != 2 || math.Abs(got[0]-0.75) > 1e-12 || math.Abs(got[1]-0.375) > 1e-12 {
		t.Errorf("%v, want 0.75 and 0.375", got)
	}
}

// TestLaws over random shapes: chances fall with depth and lie in [0, 1]; more tokens, branches, steps or better drafts never yield less;
// the chance is found again from what it yields.
func TestLaws(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		s := Shape{Tokens: 1 + r.Int64N(40), Steps: r.Int64N(9), Branches: r.Int64N(9)}
		a := r.Float64()
		surv := s.Survival(a)
		if int64(len(surv)) != s.Depth() {
			t.Fatalf("%+v: %d chances, depth %d", s, len(surv), s.Depth())
		}
		last := 1.0
		for _, p := range surv {
			if p < 0 || p > last+1e-12 {
				t.Fatalf("%+v at %v: %v", s, a, surv)
			}
			last = p
		}
		yields := Expected(surv)
		for name, other := range map[string]Shape{"tokens": {s.Tokens + 1, s.Steps, s.Branches}, "better": s} {
			b := a
			if name == "better" {
				b = a + (1-a)/2
			}
			if more := Expected(other.Survival(b)); more < yields-1e-9 {
				t.Errorf("%+v at %v yields %v, with %s %v", s, a, yields, name, more)
			}
		}
		if back, ok := s.Chance(yields); !ok || math.Abs(Expected(s.Survival(back))-yields) > 1e-6 {
			t.Errorf("%+v: %v yields %v; found again %v %v", s, a, yields, back, ok)
		}
	}
	if _, ok := (Shape{Tokens: 3}).Chance(4.1); ok {
		t.Error("three drafted tokens yield 4.1")
	}
}

// TestPublished: each row is whole, its chances fall, and their sum is its length; a tree's shape explains its length with a chance
// between those of the same model's chains.
func TestPublished(t *testing.T) {
	rows := Published()
	if len(rows) < 20 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, r := range rows {
		if r.Shape.Tokens < 1 || r.Source == "" || r.Length <= 1 {
			t.Errorf("%+v", r)
		}
		if _, ok := r.Shape.Chance(r.Length); !ok {
			t.Errorf("%s of %s: no chance yields %v", r.Method, r.Model, r.Length)
		}
		if r.Survival != nil && math.Abs(Expected(r.Survival)-r.Length) > 0.02 {
			t.Errorf("%s: its positions yield %v and its length is %v", r.Source, Expected(r.Survival), r.Length)
		}
	}
	for method, want := range map[string][2]float64{"eagle3": {0.6, 0.85}, "mtp": {0.7, 0.9}, "ngram": {0.1, 0.8}, "suffix": {0.05, 0.8}} {
		c, ok := Find(method, "")
		if !ok || c.Mid < want[0] || c.Mid > want[1] || c.Low > c.Mid || c.High < c.Mid {
			t.Errorf("%s: %+v", method, c)
		}
	}
	if c, ok := Find("eagle3", "llama-3.3-70b"); !ok || !c.Model || c.Rows != 6 {
		t.Errorf("of its own model: %+v", c)
	}
	if _, ok := Find("medusa", "x"); ok {
		t.Error("nothing was published of it here")
	}
}

// TestStretched: what was measured at three positions goes on at the last ratio, and is cut where fewer are drafted.
func TestStretched(t *testing.T) {
	got := Shape{Tokens: 5}.Stretched([]float64{0.8, 0.6, 0.3})
	if len(got) != 5 || got[3] != 0.15 || got[4] != 0.075 {
		t.Errorf("%v", got)
	}
	if got := (Shape{Tokens: 2}).Stretched([]float64{0.8, 0.6, 0.3}); len(got) != 2 {
		t.Errorf("%v", got)
	}
}
