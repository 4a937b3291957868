package observe

import (
	"errors"
	"math"
	"slices"
	"strconv"
)

// Histogram counts observations up to bounds, as Prometheus does: Counts[i] are those of at most Bounds[i], the last
// bound is +Inf.
type Histogram struct {
	Bounds, Counts []float64
	Sum, Count     float64
}

// Percentile is what a histogram tells of a percentile: it lies between Low and High, the bounds of a bucket, and Value is
// a straight line between them, as Prometheus' histogram_quantile draws it. High is +Inf, and Value is Low, where more
// observations are beyond the last bound.
type Percentile struct{ Value, Low, High float64 }

// Quantile gives the q-th part, 0 to 1; ok is false without observations.
func (h *Histogram) Quantile(q float64) (p Percentile, ok bool) {
	if h == nil || len(h.Bounds) == 0 || !(h.Count > 0) || !(q >= 0 && q <= 1) {
		return p, false
	}
	rank := q * h.Count
	i := slices.IndexFunc(h.Counts, func(c float64) bool { return c >= rank })
	if i < 0 {
		i = len(h.Counts) - 1
	}
	before := 0.0
	if i > 0 {
		p.Low, before = h.Bounds[i-1], h.Counts[i-1]
	}
	p.High, p.Value = h.Bounds[i], p.Low
	if in := h.Counts[i] - before; !math.IsInf(p.High, 1) && in > 0 {
		p.Value += (p.High - p.Low) * max(0, rank-before) / in
	}
	return p, true
}

// Mean is Sum over Count; ok is false without observations.
func (h *Histogram) Mean() (mean float64, ok bool) {
	if h == nil || !(h.Count > 0) {
		return 0, false
	}
	return h.Sum / h.Count, true
}

// Since gives what was observed after an earlier reading of the same histogram. Where the counts fell, the engine was
// started again, and all that it has is new.
func (h *Histogram) Since(old *Histogram) *Histogram {
	if h == nil || old == nil || !slices.Equal(h.Bounds, old.Bounds) || h.Count < old.Count {
		return h
	}
	out := &Histogram{Bounds: h.Bounds, Counts: slices.Clone(h.Counts), Sum: h.Sum - old.Sum, Count: h.Count - old.Count}
	for i := range out.Counts {
		out.Counts[i] = max(0, out.Counts[i]-old.Counts[i])
	}
	return out
}

var errBounds = errors.New("its series have unlike buckets")

// histogramOf adds up the series of a histogram over all their labels; nil where the page has none of that name.
func histogramOf(samples []Sample, name string) (*Histogram, error) {
	h := &Histogram{}
	at := map[float64]float64{}
	series := map[float64]int{}
	for i := range samples {
		s := &samples[i]
		switch {
		case !(s.Value >= 0):
		case s.Name == name+"_sum":
			h.Sum += s.Value
		case s.Name == name+"_count":
			h.Count += s.Value
		case s.Name == name+"_bucket":
			if bound, err := strconv.ParseFloat(s.Labels["le"], 64); err == nil && !math.IsNaN(bound) {
				at[bound] += s.Value
				series[bound]++
			}
		}
	}
	if len(at) == 0 {
		return nil, nil
	}
	err := h.fill(at, series)
	return h, err
}

// fill puts the buckets in order. A page that leaves out the last bucket has its count in _count.
func (h *Histogram) fill(at map[float64]float64, series map[float64]int) error {
	inf := math.Inf(1)
	if _, has := at[inf]; has {
		h.Count = max(h.Count, at[inf])
	}
	for bound, c := range at {
		if !math.IsInf(bound, 1) {
			h.Bounds = append(h.Bounds, bound)
			h.Count = max(h.Count, c)
		}
	}
	slices.Sort(h.Bounds)
	most := 0.0
	for _, bound := range h.Bounds {
		if series[bound] != series[h.Bounds[0]] {
			return errBounds
		}
		most = max(most, at[bound]) // counts that fall from bucket to bucket were read while they changed
		h.Counts = append(h.Counts, most)
	}
	h.Bounds, h.Counts = append(h.Bounds, inf), append(h.Counts, h.Count)
	return nil
}
