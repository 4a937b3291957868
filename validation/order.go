package validation

import (
	"cmp"
	"math"
	"slices"
)

// A plan is chosen by its place among others, not by its figure: plans that somebody measured for one model on the same
// hardware are put in order by what we say, and by what was measured.

// noise is the relative difference of two measured speeds below which neither plan is the faster. Of plans that a source
// ran twice, on other days, half differ by less than 0.7 % and three of four by less than 1.4 % (TestNoise).
const noise = 0.02

// pairs of plans, by whether measurement and prediction tell them apart, and agree.
type pairs struct {
	all            int
	measured, ours int // told apart
	right, wrong   int
}

func pairsOf(measured, ours []float64) (p pairs) {
	for i := range measured {
		for j := range i {
			m, o := faster(measured[i], measured[j]), cmp.Compare(ours[i], ours[j])
			p.all++
			p.measured += m * m
			p.ours += o * o
			p.right += count(m*o > 0)
			p.wrong += count(m*o < 0)
		}
	}
	return p
}

// faster compares measured speeds; 0 within the noise.
func faster(a, b float64) int {
	if math.Abs(a-b) <= noise*max(a, b) {
		return 0
	}
	return cmp.Compare(a, b)
}

// tau is Kendall's tau-b (M. G. Kendall, The treatment of ties in ranking problems, Biometrika 33, 1945): 1 where the
// orders agree, -1 where one is the other's reverse, and 0 where one of them tells no plans apart.
func (p pairs) tau() float64 {
	if p.measured == 0 || p.ours == 0 {
		return 0
	}
	return float64(p.right-p.wrong) / math.Sqrt(float64(p.measured)*float64(p.ours))
}

// regret is the share of the best measured speed that is lost by taking the plan which ours has first; the mean of
// those it has first, where it has several.
func regret(measured, ours []float64) float64 {
	best, first := slices.Max(measured), slices.Max(ours)
	lost, n := 0.0, 0
	for i, x := range ours {
		if x == first {
			lost, n = lost+1-measured[i]/best, n+1
		}
	}
	return lost / float64(n)
}
