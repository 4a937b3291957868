package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestQuantile: figures of numpy.percentile (NumPy 2.1, method "linear") and of R's quantile, type 7.
func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		x       []float64
		q, want float64
	}{
		{[]float64{7}, 0.99, 7},
		{[]float64{2, 1}, 0.5, 1.5},
		{[]float64{4, 1, 3, 2}, 0.5, 2.5},
		{[]float64{5, 1, 4, 2, 3}, 0.5, 3},
		{[]float64{5, 1, 4, 2, 3}, 0.9, 4.6},
		{[]float64{1, 2, 3, 4}, 0.25, 1.75},
		{[]float64{10, 20}, 0, 10},
		{[]float64{10, 20}, 1, 20},
		{[]float64{10, 20}, 2, 20},
		{[]float64{10, 20}, -1, 10},
		{[]float64{1, math.Inf(1), math.Inf(1)}, 0.75, math.Inf(1)},
	} {
		if got := Quantile(c.x, c.q); got != c.want && math.Abs(got-c.want) > 1e-12 {
			t.Errorf("quantile %g of %v = %g, want %g", c.q, c.x, got, c.want)
		}
	}
	for _, nan := range []float64{Quantile(nil, 0.5), Median(nil), Deviation(nil), WeightedQuantile(nil, 0.5),
		Quantile([]float64{1}, math.NaN()), WeightedQuantile([]Weighted{{1, 0}}, 0.5)} {
		if !math.IsNaN(nan) {
			t.Errorf("a quantile of nothing is %g", nan)
		}
	}
	x := []float64{3, 1, 2}
	if Median(x); !slices.Equal(x, []float64{3, 1, 2}) {
		t.Error("the numbers asked of are sorted")
	}
}

// TestPercentilesAreRanks: of 101 numbers the hundredths are the numbers themselves, whatever rounding does to the places.
func TestPercentilesAreRanks(t *testing.T) {
	x := make([]float64, 101)
	for i := range x {
		x[i] = float64(i * i)
	}
	for i := range x {
		if got := Quantile(x, float64(i)/100); got != x[i] {
			t.Errorf("p%d = %v, want %v", i, got, x[i])
		}
	}
}

// TestLaws: a quantile lies between its neighbours, does not fall with q, and turns round with the numbers.
func TestLaws(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		x := make([]float64, 1+r.IntN(40))
		turned := make([]float64, len(x))
		even := make([]Weighted, len(x))
		for i := range x {
			x[i] = math.Round(10 * r.NormFloat64())
			turned[i], even[i] = -x[i], Weighted{x[i], 0.3}
		}
		last := math.Inf(-1)
		for i := range 101 {
			q := float64(i) / 100
			got := Quantile(x, q)
			if got < last-1e-9 || got < slices.Min(x) || got > slices.Max(x) {
				t.Fatalf("quantile %g of %v is %g after %g", q, x, got, last)
			}
			last = got
			if back := -Quantile(turned, 1-q); math.Abs(back-got) > 1e-9 {
				t.Fatalf("quantile %g of %v is %g, and %g turned round", q, x, got, back)
			}
			if w := WeightedQuantile(even, q); math.Abs(w-got) > 1e-9 {
				t.Fatalf("quantile %g of %v is %g, and %g with equal weights", q, x, got, w)
			}
		}
		low, high := PredictionInterval(x, 0.9)
		if low > Median(x) || high < Median(x) {
			t.Fatalf("the median of %v lies outside of %g to %g", x, low, high)
		}
	}
}

// TestWeights: a scale of the weights changes nothing, what weighs nothing does not count, and more weight draws towards itself.
func TestWeights(t *testing.T) {
	x := []Weighted{{1, 1}, {2, 1}, {3, 2}, {10, 1}}
	mid := WeightedQuantile(x, 0.5)
	for _, same := range [][]Weighted{{{1, 4}, {2, 4}, {3, 8}, {10, 4}}, {{1, 1}, {2, 1}, {3, 2}, {10, 1}, {99, 0}}} {
		if got := WeightedQuantile(same, 0.5); math.Abs(got-mid) > 1e-12 {
			t.Errorf("%v has the median %g, %v %g", same, got, x, mid)
		}
	}
	// By hand (arXiv:2304.07265, section 2): n* = 25/7, the window of the median is 0.36 to 0.64 of the weight: 0.04 of 0.28 are of 2.
	if want := 2*(1.0/7) + 3*(6.0/7); math.Abs(mid-want) > 1e-12 {
		t.Errorf("the median is %g, by hand %g", mid, want)
	}
	if up := WeightedQuantile([]Weighted{{1, 1}, {2, 1}, {3, 2}, {10, 9}}, 0.5); up <= mid {
		t.Errorf("more weight above leaves %g at %g", mid, up)
	}
}

// TestPredictionInterval: it holds the next number as often as it says, which quantiles of few numbers do not.
func TestPredictionInterval(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const trials, coverage = 20000, 0.9
	for _, n := range []int{19, 30, 60} {
		held, between := 0, 0
		for range trials {
			x := make([]float64, n)
			for i := range x {
				x[i] = r.NormFloat64()
			}
			next := r.NormFloat64()
			if low, high := PredictionInterval(x, coverage); low <= next && next <= high {
				held++
			}
			if Quantile(x, 0.05) <= next && next <= Quantile(x, 0.95) {
				between++
			}
		}
		if share := float64(held) / trials; share < coverage-0.01 || share > coverage+2/float64(n+1)+0.01 {
			t.Errorf("of %d numbers the interval holds the next in %.3f", n, share)
		}
		if n == 19 && between >= held {
			t.Errorf("quantiles hold the next in %d, the interval in %d", between, held)
		}
	}
}

// TestDeviation of normal numbers is theirs, and a tenth of strangers hardly moves it.
func TestDeviation(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	x := make([]float64, 4000)
	for i := range x {
		x[i] = 3 * r.NormFloat64()
	}
	clean := Deviation(x)
	for i := range x[:400] {
		x[i] = 1e6
	}
	if math.Abs(clean-3) > 0.15 || Deviation(x) > 1.2*clean {
		t.Errorf("%g, with strangers %g", clean, Deviation(x))
	}
}

// TestNearest: the nearest first, equals in their order, nothing that is infinitely far.
func TestNearest(t *testing.T) {
	list := []float64{3, math.Inf(1), 1, -1, 2}
	for n, want := range map[int][]float64{0: nil, 2: {1, -1}, 9: {1, -1, 2, 3}} {
		if got := Nearest(list, n, func(x *float64) float64 { return math.Abs(*x) }); !slices.Equal(got, want) {
			t.Errorf("%d: %v, want %v", n, got, want)
		}
	}
	if a, b := Doublings(4, 32), Doublings(32, 4); a != 3 || b != 3 || Doublings(0, 2) != 1 {
		t.Errorf("%v %v %v", a, b, Doublings(0, 2))
	}
}
