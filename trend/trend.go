// Package trend says whether a figure that is read again and again stays where it is, grows without end, or only settled:
// a robust slope with its band, and how long until it meets a limit if it goes on. It knows nothing of memory.
//
// Open trend.go for the order of the tests, slope.go for Theil's and Sen's slope, series.go for how a long series is kept
// in little room.
package trend

import (
	"math"
	"slices"

	"github.com/memwall/memwall/stat"
)

// Point is a figure at a time in seconds.
type Point struct{ At, Value float64 }

// Finding is what a series does.
type Finding string

const (
	Unknown  Finding = "unknown"  // too short to tell
	Level    Finding = "level"    // no growth beyond its noise
	Growing  Finding = "growing"  // steadily, all the time: as a leak does
	Settling Finding = "settling" // grew and grows less: as what warms up does
	Stepped  Finding = "stepped"  // grew at a few moments and stayed: as a load of more does
	Uneven   Finding = "uneven"   // went up and down
)

// Trend is what a series does, in its own unit and seconds.
type Trend struct {
	Finding Finding
	Seconds float64 // from the first point to the last
	Drift   float64 // of the end over the beginning, by medians of a sixteenth each
	Noise   float64 // standard deviation about the slope, by the median of residuals
	// Slope a second of what follows the first quarter, with the band that holds it nine times in ten where points are
	// independent; NaN where the series is unknown.
	Slope, Low, High float64
}

// Bounds of the tests. A series is judged by the medians of sixteenths of its last three quarters: the first quarter is
// left to warm up.
const (
	blocks    = 16
	perBlock  = 3   // points, at least, on average
	leastTime = 600 // seconds
	warm      = 0.25
	// A leak grows in nearly all blocks; a random walk of equal odds falls in more than maxFalls of 15 in 99.9 of 100.
	maxFalls = 1
	// No single rise is most of it, and several rises are there.
	largestRise, leastRises = 0.4, 6
	// The second half grows nearly as fast as the first.
	leastSteady = 0.5
	// Growth is clear of the noise of a median.
	clear = 3
)

// Of judges a series in the order of its times. Growth below floor, in the unit of the values, over the time that is
// judged counts as none: what a meter cannot tell, or nobody would mind.
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

// edge is the median of the points of a time.
func edge(points []Point, from, to float64) float64 {
	var v []float64
	for _, p := range points {
		if p.At >= from && p.At <= to {
			v = append(v, p.Value)
		}
	}
	return stat.Median(v)
}

// judge puts the medians to the tests.
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

// rises are the differences of neighbours.
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

// medians of sixteenths of the time, at the middle of each; those without points are left out.
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
