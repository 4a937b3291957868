// Package stat holds the definitions of median and quantile that all of memwall uses: in answers, fits, bands, scores
// and reports.
//
// Quantiles are type 7 of Hyndman and Fan (Sample Quantiles in Statistical Packages, The American Statistician 50,
// 1996): for n sorted numbers x[0] to x[n-1], the value at position q (n-1), interpolated linearly. This is what
// numpy.percentile computes, with which the benchmarks of vLLM (vllm/benchmarks/serve.py) and SGLang
// (sglang/bench_serving.py) report p50 and p99, so that predicted and measured percentiles are comparable. The median
// of an even number of values is the mean of the middle two.
//
// Start with Quantile. OfRanks is the same for counted or sketched data, and WeightedQuantile for weighted data.
// PredictionInterval answers another question: where the next value will lie.
package stat

import (
	"cmp"
	"math"
	"slices"

	"github.com/memwall/memwall/internal/stable"
)

// Quantile returns the quantile q, from 0 to 1, of numbers in any order. It does not modify x, and returns NaN if x is
// empty.
func Quantile(x []float64, q float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return OfRanks(int64(len(x)), q, func(rank int64) float64 { return x[rank] })
}

// Median returns the median of numbers in any order. It does not modify x, and returns NaN if x is empty.
func Median(x []float64) float64 { return Quantile(x, 0.5) }

// MedianRow returns the index of the median of n sorted rows, the lower of two: for values that are quoted rather than
// averaged, such as prices.
func MedianRow(n int) int { return (n - 1) / 2 }

// OfRanks returns the quantile q of n numbers, where at returns the number at a rank from 0, the smallest, to n-1. It
// calls at for at most two ranks, the lower first, and returns NaN if n is 0.
func OfRanks(n int64, q float64, at func(rank int64) float64) float64 {
	if n <= 0 || math.IsNaN(q) {
		return math.NaN()
	}
	place := min(max(q, 0), 1) * float64(n-1)
	rank := min(int64(place), n-1)
	part := place - float64(rank)
	// Rounding can move an integral position slightly: 0.07 × 100 is 7.000000000000001.
	if math.Abs(part-math.Round(part)) < 1e-12*float64(n) {
		return at(min(rank+int64(math.Round(part)), n-1))
	}
	low, high := at(rank), at(rank+1)
	if low == high {
		return low
	}
	return min(max(low+part*(high-low), low), high)
}

// Weighted is a number with a non-negative weight.
type Weighted struct{ Value, Weight float64 }

// WeightedQuantile returns the quantile q of weighted numbers in any order; NaN if there are none. It is Akinshin's
// weighted type 7 (Weighted quantile estimators, 2023, arXiv:2304.07265): the mean over a window of width 1/n*, where
// n*, Kish's effective sample size, is the squared sum of the weights over the sum of their squares. With equal weights
// it equals Quantile; scaling the weights has no effect.
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

// PredictionInterval returns an interval that contains the next value of the same kind with at least the given
// coverage, with equal probability below and above. The rank of the next value among n + 1 is uniformly distributed, so
// the limits are the values at ranks q (n+1), rounded outwards (Wilks, Annals of Mathematical Statistics 12, 1941), or
// the smallest and largest if there are too few. It returns NaN if x is empty.
func PredictionInterval(x []float64, coverage float64) (low, high float64) {
	if len(x) == 0 {
		return math.NaN(), math.NaN()
	}
	x = slices.Sorted(slices.Values(x))
	beyond := int((1-coverage)/2*float64(len(x)+1) + 1e-9) // ranks from either end, rounded down (outwards)
	beyond = min(max(beyond, 1), len(x))
	return x[beyond-1], x[len(x)-beyond]
}

// Deviation returns a robust estimate of the standard deviation of residuals about 0: 1.4826 times the median of their
// absolute values (Rousseeuw and Croux, 1993, doi:10.1080/01621459.1993.10476408). It returns NaN if there are none.
func Deviation(residuals []float64) float64 {
	sizes := make([]float64, len(residuals))
	for i, r := range residuals {
		sizes[i] = math.Abs(r)
	}
	return 1.4826 * Median(sizes)
}
