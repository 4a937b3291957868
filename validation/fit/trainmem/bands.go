package main

import (
	"math"

	"github.com/memwall/memwall/stat"
)

// ratios of measured to ours, by who measured.
type ratios map[string][]float64

// nobody is the maker of a report whose repository is not known. Bands are widened until they hold for it like for the others, but it
// has no vote on their percentiles: it may be one of the others, and two of its rows would count as much as all of theirs.
const nobody = "unnamed-repository"

func ratiosOf(rows []run, measured, ours func(*run) float64) ratios {
	out := ratios{}
	for i := range rows {
		r := &rows[i]
		out[maker(r)] = append(out[maker(r)], measured(r)*gib/ours(r))
	}
	return out
}

// but returns the votes of all makers but one, each maker of the same weight however many runs it has.
func (x ratios) but(without string) (out []stat.Weighted) {
	for name, of := range x {
		for _, v := range of {
			if name != without && name != nobody {
				out = append(out, stat.Weighted{Value: v, Weight: 1 / float64(len(of))})
			}
		}
	}
	return out
}

// edges are the 5th and the 95th percentile around 1, widened.
func edges(x []stat.Weighted, wider float64) (low, high float64) {
	low, high = stat.WeightedQuantile(x, 0.05), stat.WeightedQuantile(x, 0.95)
	return math.Pow(min(1, low), wider), math.Pow(max(1, high), wider)
}

// covered is the share of a maker's runs within the band that all others give, widened, averaged over makers.
func (x ratios) covered(wider float64) float64 {
	sum := 0.0
	for name, of := range x {
		low, high := edges(x.but(name), wider)
		in := 0.0
		for _, v := range of {
			if v >= low && v <= high {
				in++
			}
		}
		sum += in / float64(len(of))
	}
	return sum / float64(len(x))
}

// What bands promise of a maker whom nothing was fitted to, and the widest that they are made for it.
const (
	promised = 0.9
	widest   = 4.0
)

// widening is the power of a band's edges by which it holds what it promises of makers that are left out: percentiles of a handful
// of makers say too little of the next. One number for all of a figure, since each left out alone would leave too few.
func (x ratios) widening() float64 {
	wider := 1.0
	for len(x) > 1 && wider < widest && x.covered(wider) < promised {
		wider += 0.05
	}
	return wider
}
