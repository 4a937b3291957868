package speed

import "math"

// Figure is a prediction with its 90 % band.
type Figure struct{ Mid, Low, High float64 }

// Known reports whether there is a prediction; an infinite time is none.
func (f Figure) Known() bool { return f.Mid > 0 && f.Mid <= math.MaxFloat64 }

// Times returns the figure multiplied by x.
func (f Figure) Times(x float64) Figure { return Figure{f.Mid * x, f.Low * x, f.High * x} }

// Plus returns the sum of two figures with independent errors: the bands add in quadrature.
func (f Figure) Plus(g Figure) Figure {
	mid := f.Mid + g.Mid
	return Figure{mid, max(0, mid-math.Hypot(f.Mid-f.Low, g.Mid-g.Low)), mid + math.Hypot(f.High-f.Mid, g.High-g.Mid)}
}

// Inverse converts seconds per token into tokens per second, and back.
func (f Figure) Inverse() Figure {
	if f.Mid == 0 {
		return Figure{}
	}
	return Figure{1 / f.Mid, 1 / f.High, 1 / f.Low}
}

// Bound is what limits a step.
type Bound string

const (
	Memory   Bound = "memory"
	Compute  Bound = "compute"
	Network  Bound = "network"
	Host     Bound = "host"
	Capacity Bound = "capacity" // requests wait for space in the cache
)

// Part is a component of a step's time.
type Part struct {
	Name    string // "weights", "attention", "experts", "head", "all-reduce", "host", …
	Seconds float64
	Bound   Bound
}

// Largest returns the bound that accounts for most seconds in a list of parts; on a tie, the first.
func Largest(parts []Part) (b Bound) {
	sum := map[Bound]float64{}
	for _, p := range parts {
		sum[p.Bound] += p.Seconds
	}
	most := 0.0
	for _, p := range parts {
		if sum[p.Bound] > most {
			most, b = sum[p.Bound], p.Bound
		}
	}
	return b
}
