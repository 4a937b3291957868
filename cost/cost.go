// Package cost says what a plan takes in energy and in money: watts of a device from how hard it works,
// joules a token, dollars a million tokens from a dated price.
//
// power.go has the law of power and its fitted table, energy.go joules, money.go dollars. What has no sourced
// row is unknown: it is not guessed.
package cost

import "math"

// Figure is a value with its 90 % band. The zero Figure is unknown.
type Figure struct{ Mid, Low, High float64 }

// Known reports whether there is a value.
func (f Figure) Known() bool { return f.Mid > 0 }

func exactly(x float64) Figure { return Figure{x, x, x} }

func (f Figure) times(x float64) Figure { return Figure{f.Mid * x, f.Low * x, f.High * x} }

// per divides two figures whose errors have different causes: their logarithms' deviations add in quadrature.
func (f Figure) per(g Figure) Figure {
	if !f.Known() || !g.Known() {
		return Figure{}
	}
	mid := f.Mid / g.Mid
	return Figure{mid, mid * math.Exp(-apart(f.Mid/f.Low, g.High/g.Mid)), mid * math.Exp(apart(f.High/f.Mid, g.Mid/g.Low))}
}

// plus adds two figures; their errors add in quadrature.
func (f Figure) plus(g Figure) Figure {
	mid := f.Mid + g.Mid
	return Figure{mid, mid - math.Hypot(f.Mid-f.Low, g.Mid-g.Low), mid + math.Hypot(f.High-f.Mid, g.High-g.Mid)}
}

func apart(a, b float64) float64 { return math.Hypot(math.Log(a), math.Log(b)) }
