package study

import (
	"math"

	"github.com/memwall/memwall/stat"
)

// Errors are how far predictions are off what was measured, and their bands.
type Errors struct {
	logs, widths []float64 // ln(predicted/measured); the width of a band over its prediction
	inside       int
}

// Add a prediction.
func (e *Errors) Add(predicted, measured float64) {
	e.logs = append(e.logs, math.Log(predicted/measured))
}

// AddBand adds a prediction with the band that was to hold the measurement.
func (e *Errors) AddBand(low, mid, high, measured float64) {
	e.Add(mid, measured)
	e.widths = append(e.widths, (high-low)/mid)
	if low <= measured && measured <= high {
		e.inside++
	}
}

// Rows is how many predictions there are.
func (e *Errors) Rows() int { return len(e.logs) }

// Off is a quantile of the relative errors, without their signs.
func (e *Errors) Off(q float64) float64 {
	x := make([]float64, len(e.logs))
	for i, l := range e.logs {
		x[i] = math.Abs(math.Expm1(l))
	}
	return stat.Quantile(x, q)
}

// Bias is the median of the relative errors.
func (e *Errors) Bias() float64 { return math.Expm1(stat.Median(e.logs)) }

// Banded reports whether every prediction has a band.
func (e *Errors) Banded() bool { return len(e.logs) > 0 && len(e.widths) == len(e.logs) }

// Cover is the share of measurements in their bands, Width the median of the bands' widths.
func (e *Errors) Cover() float64 { return float64(e.inside) / float64(len(e.widths)) }

// Width is the median of the widths of bands, each over its prediction.
func (e *Errors) Width() float64 { return stat.Median(e.widths) }

// Groups are errors by the name of what rows have in common.
type Groups map[string]*Errors

// Of gives the errors of a group.
func (g Groups) Of(name string) *Errors {
	if g[name] == nil {
		g[name] = &Errors{}
	}
	return g[name]
}
