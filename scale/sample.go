package scale

import (
	"maps"
	"math"
	"slices"
)

// Sample is a weighted histogram of times, with bins of 2 % from 0.1 ms to a day.
type Sample struct {
	bins [1200]float64
	sum  float64
}

const (
	shortest = 1e-4
	perBin   = 1.02
)

var logBin = math.Log(perBin)

func (s *Sample) add(seconds, weight float64) {
	i := 0
	if seconds > shortest {
		i = min(len(s.bins)-1, int(math.Log(seconds/shortest)/logBin))
	}
	s.bins[i] += weight
	s.sum += weight
}

// Quantile returns a quantile in seconds; 0 if empty.
func (s *Sample) Quantile(q float64) float64 {
	left := q * s.sum
	for i, w := range s.bins {
		if left -= w; left <= 0 && w > 0 {
			return shortest * math.Pow(perBin, float64(i)+0.5)
		}
	}
	return 0
}

// tally counts arrivals by position on the curve, from which latencies are summed at the end.
type tally struct {
	curve  *Curve
	points []float64
	waited map[[2]int]float64 // by point, and by tenths of a second waited
}

func newTally(c *Curve) tally {
	return tally{c, make([]float64, len(c.points)), map[[2]int]float64{}}
}

func (t *tally) add(n, in, waited float64) {
	p := t.curve.at(in)
	wait := p.wait + waited
	for _, x := range [2]struct {
		at int
		n  float64
	}{{p.below, n * (1 - p.weight)}, {p.above, n * p.weight}} {
		switch {
		case x.n == 0:
		case wait < 0.05:
			t.points[x.at] += x.n
		default:
			t.waited[[2]int{x.at, int(10*min(wait, longestTime) + 0.5)}] += x.n
		}
	}
}

// most is the number of requests of a point that represent all requests in a queue.
const most = 16

func (t *tally) samples() (first, perToken Sample) {
	for i, n := range t.points {
		all := t.curve.points[i].Requests
		for _, r := range all {
			first.add(r.First, n/float64(len(all)))
			perToken.add(r.PerToken, n/float64(len(all)))
		}
	}
	for _, at := range slices.SortedFunc(maps.Keys(t.waited), func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }) {
		n := t.waited[at]
		all := t.curve.points[at[0]].Requests
		every := max(1, len(all)/most)
		for i := 0; i < len(all); i += every {
			w := n / float64((len(all)+every-1)/every)
			first.add(all[i].First+float64(at[1])/10, w)
			perToken.add(all[i].PerToken, w)
		}
	}
	return first, perToken
}
