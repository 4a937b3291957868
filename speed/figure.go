package speed

import "math"

// Figure is a prediction with its 90 % band.
type Figure struct{ Mid, Low, High float64 }

// Known reports whether there is a prediction: of what takes forever there is none.
func (f Figure) Known() bool { return f.Mid > 0 && f.Mid <= math.MaxFloat64 }

// Times is the figure in other units.
func (f Figure) Times(x float64) Figure { return Figure{f.Mid * x, f.Low * x, f.High * x} }

// Plus adds a figure whose error has another cause: the bands add in quadrature.
func (f Figure) Plus(g Figure) Figure {
	mid := f.Mid + g.Mid
	return Figure{mid, max(0, mid-math.Hypot(f.Mid-f.Low, g.Mid-g.Low)), mid + math.Hypot(f.High-f.Mid, g.High-g.Mid)}
}

// Inverse turns seconds a token into tokens a second, and back.
func (f Figure) Inverse() Figure {
	if f.Mid == 0 {
		return Figure{}
	}
	return Figure{1 / f.Mid, 1 / f.High, 1 / f.Low}
}

// Bound is what a step waits for.
type Bound string

const (
	Memory   Bound = "memory"
	Compute  Bound = "compute"
	Network  Bound = "network"
	Host     Bound = "host"
	Capacity Bound = "capacity" // requests wait for room in the cache
)

// Part is a share of a step's time.
type Part struct {
	Name    string // "weights", "attention", "experts", "head", "all-reduce", "host", …
	Seconds float64
	Bound   Bound
}

// Largest is what bounds a list of parts: the reason with the most seconds; of equals the first.
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
