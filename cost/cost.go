// Package cost says what a plan takes in energy and in money: watts of a device from how hard it works,
// joules a token, dollars a million tokens from a dated price.
//
// power.go has the law of power and its fitted table, energy.go joules, money.go dollars. What has no sourced
// row is unknown: it is not guessed.
package cost

import (
	"math"

	"github.com/memwall/memwall/speed"
)

// Figure is a value with its 90 % band. The zero Figure is unknown.
type Figure = speed.Figure

// per divides two figures whose errors have different causes: their logarithms' deviations add in quadrature.
func per(f, g Figure) Figure {
	if !f.Known() || !g.Known() {
		return Figure{}
	}
	mid := f.Mid / g.Mid
	return Figure{Mid: mid, Low: mid * math.Exp(-logDistance(f.Mid/f.Low, g.High/g.Mid)),
		High: mid * math.Exp(logDistance(f.High/f.Mid, g.Mid/g.Low))}
}

func logDistance(a, b float64) float64 { return math.Hypot(math.Log(a), math.Log(b)) }
