package trend

import (
	"math"
	"slices"

	"github.com/memwall/memwall/stat"
)

// z is the normal quantile of a two-sided 90 % band.
const z = 1.6449

// slope returns the median of the slopes of all pairs (Theil 1950, Sen 1968) with Sen's band: the slopes at the ranks
// given by Kendall's statistic, whose variance is n (n - 1) (2 n + 5) / 18.
func slope(points []Point) (mid, low, high float64) {
	var s []float64
	for i := range points {
		for j := range i {
			if dt := points[i].At - points[j].At; dt > 0 {
				s = append(s, (points[i].Value-points[j].Value)/dt)
			}
		}
	}
	if len(s) == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	mid = stat.Median(s)
	slices.Sort(s)
	n := float64(len(points))
	c := z * math.Sqrt(n*(n-1)*(2*n+5)/18)
	at := func(rank float64) float64 { return s[int(min(max(rank, 0), float64(len(s)-1)))] }
	return mid, at((float64(len(s)) - c) / 2), at((float64(len(s)) + c) / 2)
}

// noise returns the standard deviation of the residuals about a slope.
func noise(points []Point, slope float64) float64 {
	rest := make([]float64, len(points))
	for i, p := range points {
		rest[i] = p.Value - slope*p.At
	}
	mid := stat.Median(rest)
	for i := range rest {
		rest[i] -= mid
	}
	return stat.Deviation(rest)
}

// Until is the time until a growing value reaches a limit, in seconds. High is +Inf if the band of the slope includes
// zero.
type Until struct{ Seconds, Low, High float64 }

// Until extrapolates from the current value to a limit; ok is false if the value does not grow or its trend is unknown.
func (t *Trend) Until(now, limit float64) (u Until, ok bool) {
	room := limit - now
	if !(t.Slope > 0) || math.IsNaN(room) {
		return u, false
	}
	room = max(room, 0)
	u = Until{room / t.Slope, room / t.High, math.Inf(1)}
	if t.Low > 0 {
		u.High = room / t.Low
	}
	return u, true
}

// Lately returns the trend of the points of the last seconds; ok is false if there are too few, or they do not clearly
// rise.
func Lately(points []Point, seconds float64) (t Trend, ok bool) {
	const least = 8
	if len(points) == 0 {
		return t, false
	}
	from := points[len(points)-1].At - seconds
	i := slices.IndexFunc(points, func(p Point) bool { return p.At >= from })
	points = points[i:]
	if len(points) < least {
		return t, false
	}
	if m := medians(points); len(m) >= least {
		points = m
	}
	t.Slope, t.Low, t.High = slope(points)
	return t, t.Low > 0
}
