package coef

import "math"

// Scatter estimates the variance of errors about their mean from the mean absolute deviation, which outliers affect less than
// squares: for normal errors, the standard deviation is sqrt(pi/2) times it. It needs at least two errors.
func Scatter(errors []float64) (variance float64, ok bool) {
	n := float64(len(errors))
	if n < 2 {
		return 0, false
	}
	mean, off := Mean(errors), 0.0
	for _, e := range errors {
		off += math.Abs(e - mean)
	}
	return math.Pi / 2 * square(off/n) * n / (n - 1), true
}

// Mean returns the mean of at least one number.
func Mean(x []float64) (mean float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	return mean
}

// Own is what a machine's own figures say: by how much they scatter about what they have in common, as the variance
// of a logarithm. A band of its own then follows from the spread of such errors.
func (t *Table) Own(figure string) (variance float64, ok bool) {
	variance, ok = t.own[figure]
	return variance, ok
}

// WithOwn is the table with what a machine's own figures say of some; the table itself stays as it is.
func (t *Table) WithOwn(variances map[string]float64) *Table {
	out := *t
	out.own = variances
	return &out
}

// Set gives a coefficient its start value.
func (t *Table) Set(name string, value float64) { t.start[name] = value }
