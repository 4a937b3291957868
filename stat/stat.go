// Package stat holds the one definition of a median and of a quantile that all of memwall uses: answers, fits, bands, scores and reports.
//
// A quantile is type 7 of Hyndman and Fan (Sample Quantiles in Statistical Packages, The American Statistician 50, 1996): of n sorted
// numbers
// x[0] to x[n-1] the one at the place q (n-1), on a straight line between the two that are nearest. It is what numpy.percentile gives, with
// which the benchmarks of vLLM (vllm/benchmarks/serve.py) and SGLang (sglang/bench_serving.py) print p50 and p99, so that a percentile
// predicted and one measured are of one definition. The median is its half: of an even number the mean of the middle two.
//
// Start with Quantile. OfRanks is the same for numbers that are counted or sketched, and WeightedQuantile for weights. PredictionInterval
// answers another question: where the next number will lie, and not where the given ones do.
package stat

import (
	"cmp"
	"math"
	"slices"

	"github.com/memwall/memwall/internal/stable"
)

// Quantile q, 0 to 1, of numbers in any order, which stay as they are; NaN of none.
func Quantile(x []float64, q float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return OfRanks(int64(len(x)), q, func(rank int64) float64 { return x[rank] })
}

// Median of numbers in any order, which stay as they are; NaN of none.
func Median(x []float64) float64 { return Quantile(x, 0.5) }

// MedianRow is the rank, 0 to n-1, of the row in the middle of n sorted ones, of an even number the lower: for what is quoted and not
// averaged,
// such as a price that somebody asks.
func MedianRow(n int) int { return (n - 1) / 2 }

// OfRanks is quantile q of n numbers of which at gives the one at a rank, 0 to n-1 from the smallest; NaN of none. It asks for two ranks at
// the most, the lower first.
func OfRanks(n int64, q float64, at func(rank int64) float64) float64 {
	if n <= 0 || math.IsNaN(q) {
		return math.NaN()
	}
	place := min(max(q, 0), 1) * float64(n-1)
	rank := min(int64(place), n-1)
	part := place - float64(rank)
	// The place of a percentile is a whole number up to rounding: 0.07 × 100 is 7.000000000000001.
	if math.Abs(part-math.Round(part)) < 1e-12*float64(n) {
		return at(min(rank+int64(math.Round(part)), n-1))
	}
	low, high := at(rank), at(rank+1)
	if low == high {
		return low
	}
	return min(max(low+part*(high-low), low), high)
}

// Weighted is a number and what it weighs: not below 0.
type Weighted struct{ Value, Weight float64 }

// WeightedQuantile is quantile q of numbers of unequal weight, in any order; NaN of none. It is Akinshin's weighted type 7 (Weighted
// quantile
// estimators, 2023, arXiv:2304.07265): the mean over a window as wide as one of n* numbers, n* being Kish's effective size, the square of
// the sum of the weights over the sum of their squares. Equal weights give Quantile, and a scale of the weights changes nothing.
func WeightedQuantile(x []Weighted, q float64) float64 {
	x = slices.DeleteFunc(slices.Clone(x), func(w Weighted) bool { return !(w.Weight > 0) })
	stable.Sort(x, func(a, b Weighted) int { return cmp.Or(cmp.Compare(a.Value, b.Value), cmp.Compare(a.Weight, b.Weight)) })
	var sum, squares, mean, up float64
	for _, w := range x {
		sum, squares = sum+w.Weight, squares+w.Weight*w.Weight
	}
	if len(x) == 0 || math.IsNaN(q) {
		return math.NaN()
	}
	n := sum * sum / squares
	from := min(max(q, 0), 1) * (n - 1)
	inWindow := func(share float64) float64 { return min(max(share*n-from, 0), 1) }
	for i, w := range x {
		before := inWindow(up / sum)
		if up += w.Weight; i == len(x)-1 {
			up = sum
		}
		mean += (inWindow(up/sum) - before) * w.Value
	}
	return min(max(mean, x[0].Value), x[len(x)-1].Value)
}

// PredictionInterval holds the next number of the kind with at least the given coverage, as much of the rest below as above. The next of n
// + 1
// takes each place among them with the same chance, so that the limits are the numbers at the ranks q (n+1), rounded outwards
// (Wilks, Annals of Mathematical Statistics 12, 1941); where there are too few, they are the smallest and the largest. NaN of none.
func PredictionInterval(x []float64, coverage float64) (low, high float64) {
	if len(x) == 0 {
		return math.NaN(), math.NaN()
	}
	x = slices.Sorted(slices.Values(x))
	beyond := int((1-coverage)/2*float64(len(x)+1) + 1e-9) // ranks from the outside, rounded down to be further out
	beyond = min(max(beyond, 1), len(x))
	return x[beyond-1], x[len(x)-beyond]
}

// Deviation is the standard deviation of residuals about 0 by the median of their sizes, which a few of another kind do not move: 1.4826
// times
// it for normal ones (Rousseeuw and Croux, 1993, doi:10.1080/01621459.1993.10476408). NaN of none.
func Deviation(residuals []float64) float64 {
	sizes := make([]float64, len(residuals))
	for i, r := range residuals {
		sizes[i] = math.Abs(r)
	}
	return 1.4826 * Median(sizes)
}
