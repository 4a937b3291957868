// Package cost computes the energy and cost of running a plan: a device's watts from its utilization, joules per token,
// and dollars per million tokens from a dated price.
//
// power.go has the power model and its fitted table, energy.go joules, money.go dollars. Figures without a sourced row
// are unknown rather than guessed.
package cost

import (
	"math"

	"github.com/memwall/memwall/speed"
)

// Figure is a value with its 90 % band. The zero Figure is unknown.
type Figure = speed.Figure

// per returns the quotient of two figures with independent errors: the deviations of their logarithms add in
// quadrature.
func per(f, g Figure) Figure {
	if !f.Known() || !g.Known() {
		return Figure{}
	}
	mid := f.Mid / g.Mid
	return Figure{Mid: mid, Low: mid * math.Exp(-logDistance(f.Mid/f.Low, g.High/g.Mid)),
		High: mid * math.Exp(logDistance(f.High/f.Mid, g.Mid/g.Low))}
}

func logDistance(a, b float64) float64 { return math.Hypot(math.Log(a), math.Log(b)) }
