package quant

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/memwall/memwall/unit"
)

// someGroups with options that shrink and worsen, as formats do.
func someGroups(r *rand.Rand, n, options int) []Group {
	groups := make([]Group, n)
	for g := range groups {
		size := unit.Bytes(1+r.IntN(5)) * 1000
		hard := math.Exp(r.NormFloat64())
		for o := range options {
			bits := unit.Bytes(2 + o + r.IntN(3))
			groups[g].Options = append(groups[g].Options,
				Option{Bytes: size * bits, Noise: hard * float64(size) * math.Pow(4, -float64(bits)) * (0.5 + r.Float64())})
		}
	}
	return groups
}

// every tries all mixtures: the slow twin.
func every(groups []Group, budget unit.Bytes) float64 {
	best := math.Inf(1)
	var try func(int, unit.Bytes, float64)
	try = func(g int, b unit.Bytes, noise float64) {
		switch {
		case b > budget:
		case g == len(groups):
			best = min(best, noise)
		default:
			for _, o := range groups[g].Options {
				try(g+1, b+o.Bytes, noise+o.Noise)
			}
		}
	}
	try(0, 0, 0)
	return best
}

func ends(groups []Group) (least, most unit.Bytes) {
	for _, g := range groups {
		lo, hi := g.Options[0].Bytes, g.Options[0].Bytes
		for _, o := range g.Options {
			lo, hi = min(lo, o.Bytes), max(hi, o.Bytes)
		}
		least, most = least+lo, most+hi
	}
	return least, most
}

func TestMixIsBest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		groups := someGroups(r, 1+r.IntN(6), 1+r.IntN(5))
		least, most := ends(groups)
		budget := least + unit.Bytes(r.Int64N(int64(most-least)+1))
		m, ok := Mix(groups, budget)
		want := every(groups, budget)
		if !ok || math.Abs(m.Noise-want) > 1e-9*want || m.Bytes > budget {
			t.Fatalf("%+v, budget %d: %+v, want %v", groups, budget, m, want)
		}
		if m.Bound > m.Noise || !m.Exact {
			t.Fatalf("bound %v, noise %v, exact %v", m.Bound, m.Noise, m.Exact)
		}
		if _, ok := Mix(groups, least-1); ok {
			t.Fatal("a mixture below the smallest")
		}
	}
}

// TestMixOfMany: the bound holds, and is near, for as many groups as a large model has tensors.
func TestMixOfMany(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	groups := someGroups(r, 500, 10)
	least, most := ends(groups)
	last := math.Inf(1)
	for k := range 11 {
		m, ok := Mix(groups, least+(most-least)*unit.Bytes(k)/10)
		if !ok || m.Noise > last || m.Bound > m.Noise || m.Noise > m.Bound*1.0001 {
			t.Fatalf("%d tenths: %+v after %v", k, m, last)
		}
		last = m.Noise
	}
}

// TestCurve: noise falls as bytes grow, and no mixture of a point's size is better.
func TestCurve(t *testing.T) {
	groups := someGroups(rand.New(rand.NewPCG(3, 3)), 5, 4)
	curve := Curve(groups)
	for i, p := range curve {
		if want := every(groups, p.Bytes); math.Abs(p.Noise-want) > 1e-9*want {
			t.Errorf("point %d: %v, the best of its size is %v", i, p.Noise, want)
		}
		if i > 0 && (p.Bytes <= curve[i-1].Bytes || p.Noise >= curve[i-1].Noise) {
			t.Errorf("point %d is no better than the one before", i)
		}
	}
}

func BenchmarkMix(b *testing.B) {
	groups := someGroups(rand.New(rand.NewPCG(2, 2)), 500, 10)
	least, most := ends(groups)
	for b.Loop() {
		Mix(groups, (least+most)/2)
	}
}
