package sim

import (
	"math"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/memwall/memwall/stat"
)

// exactly is the number of values up to which a sample stores each one.
const exactly = 1 << 20

// Sample is a set of durations: stored individually up to about a million, and beyond that in a histogram with three
// significant digits.
type Sample struct {
	values  []time.Duration
	weights []int64 // nil if all are 1
	hist    *hdrhistogram.Histogram
	n       int64
	sum     float64
	sorted  bool
}

// longest is the largest value that the histogram distinguishes: ten years.
const longest = 10 * 365 * 24 * time.Hour

func (s *Sample) add(d time.Duration, n int64) {
	if n <= 0 {
		return
	}
	s.n += n
	s.sum += float64(n) * float64(d)
	if s.hist != nil {
		_ = s.hist.RecordValues(int64(min(d, longest)), n) // in range
		return
	}
	s.keep(d, n)
	if len(s.values) == exactly {
		s.spill()
	}
}

// firstRoom is the initial capacity of a sample, which doubles when full.
const firstRoom = 256

func (s *Sample) keep(d time.Duration, n int64) {
	if last := len(s.values) - 1; s.weights != nil && last >= 0 && s.values[last] == d {
		s.weights[last] += n
		return
	}
	if n > 1 && s.weights == nil {
		s.weights = make([]int64, len(s.values), cap(s.values))
		for i := range s.weights {
			s.weights[i] = 1
		}
	}
	if len(s.values) == cap(s.values) {
		s.values = slices.Grow(s.values, max(firstRoom, len(s.values)))
	}
	s.values, s.sorted = append(s.values, d), false
	if s.weights != nil {
		s.weights = append(s.weights, n)
	}
}

// spill moves the values to a histogram from a nanosecond to ten years.
func (s *Sample) spill() {
	s.hist = hdrhistogram.New(1, int64(longest), 3)
	for i, v := range s.values {
		_ = s.hist.RecordValues(int64(min(v, longest)), s.weight(i))
	}
	s.values, s.weights = nil, nil
}

func (s *Sample) weight(i int) int64 {
	if s.weights == nil {
		return 1
	}
	return s.weights[i]
}

// N returns the number of values.
func (s *Sample) N() int64 { return s.n }

// Exact reports whether quantiles are exact rather than of three digits.
func (s *Sample) Exact() bool { return s.hist == nil }

// Mean returns the mean, or 0 if the sample is empty.
func (s *Sample) Mean() time.Duration {
	if s.n == 0 {
		return 0
	}
	return time.Duration(math.Round(s.sum / float64(s.n)))
}

// Quantile returns a quantile as defined by package stat, to three digits if from a histogram.
func (s *Sample) Quantile(q float64) time.Duration {
	if s.n == 0 {
		return 0
	}
	at := s.counted
	if s.hist != nil {
		at = func(rank int64) float64 { return float64(s.hist.ValueAtQuantile(100 * float64(rank+1) / float64(s.n))) }
	} else if s.sort(); s.weights == nil {
		at = func(rank int64) float64 { return float64(s.values[rank]) }
	}
	return time.Duration(math.Round(stat.OfRanks(s.n, q, at)))
}

// counted returns the value at a rank of sorted weighted values.
func (s *Sample) counted(rank int64) float64 {
	for i, w := range s.weights {
		if rank -= w; rank < 0 {
			return float64(s.values[i])
		}
	}
	return float64(s.values[len(s.values)-1])
}

func (s *Sample) sort() {
	if s.sorted {
		return
	}
	s.sorted = true
	if s.weights == nil {
		slices.Sort(s.values)
		return
	}
	type weighted struct {
		v time.Duration
		n int64
	}
	all := make([]weighted, len(s.values))
	for i, v := range s.values {
		all[i] = weighted{v, s.weights[i]}
	}
	slices.SortFunc(all, func(a, b weighted) int { return int(min(1, max(-1, a.v-b.v))) })
	for i, w := range all {
		s.values[i], s.weights[i] = w.v, w.n
	}
}
