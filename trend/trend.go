// Package trend decides whether a repeatedly measured figure is level, grows without bound, or merely settled: a robust
// slope with its band, and the time until it would reach a limit. It knows nothing of memory.
//
// trend.go has the order of the tests, slope.go the Theil-Sen slope, series.go the bounded storage of long series.
package trend

import (
	"math"
	"slices"

	"github.com/memwall/memwall/stat"
)

// Point is a value at a time in seconds.
type Point struct{ At, Value float64 }

// Finding classifies a series.
type Finding string

const (
	Unknown  Finding = "unknown"  // too short to tell
	Level    Finding = "level"    // no growth beyond the noise
	Growing  Finding = "growing"  // steady growth throughout, as with a leak
	Settling Finding = "settling" // decelerating growth, as with warm-up
	Stepped  Finding = "stepped"  // growth at a few moments only, as with added load
	Uneven   Finding = "uneven"   // rises and falls
)

// Trend describes a series, in its own unit and in seconds.
type Trend struct {
	Finding Finding
	Seconds float64 // from the first point to the last
	Drift   float64 // end minus beginning, by medians of a sixteenth each
	Noise   float64 // standard deviation about the slope, from the median absolute residual
	// Slope is the slope per second after the first quarter, with its 90 % band, assuming independent points; NaN if the
	// finding is Unknown.
	Slope, Low, High float64
}

// Thresholds of the tests. A series is judged by the medians of sixteenths of its last three quarters; the first
// quarter counts as warm-up.
const (
	blocks    = 16
	perBlock  = 3   // minimum mean points per block
	leastTime = 600 // seconds
	warm      = 0.25
	// A leak grows in nearly all blocks; a symmetric random walk falls in more than maxFalls of 15 with 99.9 %
	// probability.
	maxFalls = 1
	// No single rise dominates, and there are several.
	largestRise, leastRises = 0.4, 6
	// The second half grows nearly as fast as the first.
	leastSteady = 0.5
	// Growth clearly exceeds the noise of a median.
	clear = 3
)

// Of classifies a series sorted by time. Growth below floor, in the unit of the values, over the time judged counts as
// none, being below the resolution of the meter or irrelevant.
func Of(points []Point, floor float64) Trend {
	t := Trend{Finding: Unknown, Slope: math.NaN(), Low: math.NaN(), High: math.NaN()}
	n := len(points)
	if n == 0 {
		return t
	}
	first, last := points[0].At, points[n-1].At
	t.Seconds = last - first
	t.Drift = edge(points, last-t.Seconds/blocks, last) - edge(points, first, first+t.Seconds/blocks)
	if t.Seconds < leastTime || n < blocks*perBlock {
		return t
	}
	judged := points[slices.IndexFunc(points, func(p Point) bool { return p.At >= first+warm*t.Seconds }):]
	m := medians(judged)
	if len(m) < blocks-2 {
		return t
	}
	t.Slope, t.Low, t.High = slope(m)
	t.Noise = noise(judged, t.Slope)
	t.Finding = t.judge(m, floor, len(judged))
	return t
}

// edge returns the median of the points in a time range.
func edge(points []Point, from, to float64) float64 {
	var v []float64
	for _, p := range points {
		if p.At >= from && p.At <= to {
			v = append(v, p.Value)
		}
	}
	return stat.Median(v)
}

// judge applies the tests to the medians.
func (t *Trend) judge(m []Point, floor float64, n int) Finding {
	grown := m[len(m)-1].Value - m[0].Value
	ofMedian := 1.2533 * t.Noise / math.Sqrt(float64(n)/float64(len(m)))
	if grown < max(floor, clear*ofMedian*math.Sqrt2) {
		if grown < -max(floor, clear*ofMedian*math.Sqrt2) {
			return Uneven
		}
		return Level
	}
	r := risesOf(m)
	half := len(m) / 2
	early, late := m[half].Value-m[0].Value, m[len(m)-1].Value-m[len(m)-1-half].Value
	switch {
	case r.falls > maxFalls:
		return Uneven
	case r.largest > largestRise*grown || r.rises < leastRises:
		return Stepped
	case late < leastSteady*early:
		return Settling
	case t.Low <= 0:
		return Uneven
	}
	return Growing
}

// rises holds the differences of neighbours.
type rises struct {
	rises, falls int
	largest      float64
}

func risesOf(m []Point) (r rises) {
	for i := 1; i < len(m); i++ {
		switch d := m[i].Value - m[i-1].Value; {
		case d > 0:
			r.rises++
			r.largest = max(r.largest, d)
		case d < 0:
			r.falls++
		}
	}
	return r
}

// medians returns the medians of sixteenths of the time, at the middle of each, skipping those without points.
func medians(points []Point) (out []Point) {
	first, last := points[0].At, points[len(points)-1].At
	width := (last - first) / blocks
	var v []float64
	i := 0
	for b := range blocks {
		end := first + float64(b+1)*width
		v = v[:0]
		for ; i < len(points) && (points[i].At < end || b == blocks-1); i++ {
			v = append(v, points[i].Value)
		}
		if len(v) > 0 {
			out = append(out, Point{first + (float64(b)+0.5)*width, stat.Median(v)})
		}
	}
	return out
}
