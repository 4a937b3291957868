package workload

import (
	"math"
	"math/bits"
	"time"

	"github.com/memwall/memwall/stat"
)

// Lengths sum up what a workload is like, in the same memory however long it is.
type Lengths struct {
	Requests int64
	Last     time.Duration // arrival of the last request
	Prompt   Spread        // tokens
	Output   Spread        // tokens
	Gap      Spread        // nanoseconds between arrivals
	Shared   Spread        // tokens that prompts begin with and others may too
}

// Add a request.
func (l *Lengths) Add(r *Request) {
	if l.Requests > 0 {
		l.Gap.add(int64(r.Arrival - l.Last))
	}
	l.Requests++
	l.Last = r.Arrival
	l.Prompt.add(r.Prompt)
	l.Output.add(r.Output)
	l.Shared.add(r.Shared())
}

// Rate of arrivals a second; 0 where all came at once.
func (l *Lengths) Rate() float64 {
	if l.Gap.Mean == 0 {
		return 0
	}
	return 1e9 / l.Gap.Mean
}

// Survey sums up a source to its end.
func Survey(from Source) (*Lengths, error) {
	l := &Lengths{}
	for {
		r, ok, err := from.Next()
		if err != nil || !ok {
			return l, err
		}
		l.Add(&r)
	}
}

// Spread of whole numbers that are not negative: their mean and deviation, and their percentiles to one in a hundred and
// twenty-eight.
type Spread struct {
	Count    int64
	Mean     float64
	Min, Max int64
	squares  float64 // of distances from the mean
	seen     [slots]int64
}

// Numbers up to fine stand each in a slot of its own, larger ones in as many slots for each doubling.
const (
	fine  = 64
	slots = fine * 59
)

// add a number; mean and squares as by Welford (Technometrics 4, 1962).
func (s *Spread) add(n int64) {
	n = max(n, 0)
	if s.Count == 0 {
		s.Min = n
	}
	s.Count++
	s.Min, s.Max = min(s.Min, n), max(s.Max, n)
	d := float64(n) - s.Mean
	s.Mean += d / float64(s.Count)
	s.squares += float64(d * (float64(n) - s.Mean))
	s.seen[slot(n)]++
}

// slot of a number: its highest bits.
func slot(n int64) int {
	up := max(bits.Len64(uint64(n))-7, 0)
	return up*fine + int(n>>up)
}

// CV is the standard deviation over the mean; 0 where there is none.
func (s *Spread) CV() float64 {
	if s.Count < 2 || s.Mean == 0 {
		return 0
	}
	return math.Sqrt(s.squares/float64(s.Count-1)) / s.Mean
}

// Quantile of all, as package stat defines it, within one part in 128; 0 of none.
func (s *Spread) Quantile(share float64) int64 {
	if s.Count == 0 {
		return 0
	}
	return int64(math.Round(stat.OfRanks(s.Count, share, s.at)))
}

// at a rank of the sorted numbers.
func (s *Spread) at(rank int64) float64 {
	for i, n := range s.seen {
		if rank -= n; rank < 0 {
			return float64(min(max(middle(i), s.Min), s.Max))
		}
	}
	return float64(s.Max)
}

// middle of a slot.
func middle(i int) int64 {
	up := max(i/fine-1, 0)
	low := int64(i-up*fine) << up
	return low + (1<<up)/2
}
