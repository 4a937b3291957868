package diagnose

import (
	"strings"

	"github.com/memwall/memwall/unit"
)

// growth tracks such figures.
type growth struct {
	series []series
	smi
}

// series keeps a few evenly spaced points of one figure: when full, every second is dropped.
type series struct {
	name   string
	points []unit.Bytes
	every  int64 // samples per point
	seen   int64
	last   unit.Bytes
}

const (
	maxSeries   = 8
	maxPoints   = 64
	fewSamples  = 8
	leastGrowth = 0.02 // in each half of the time
)

// sample reads the figures of a line.
func (g *growth) sample(text string, in *hits) {
	for i, id := range words().gauges {
		if !in.has(id) {
			continue
		}
		if a, ok := gauges[i].read(text); ok {
			g.put(gauges[i].title(), a)
			return
		}
	}
}

func (g *growth) put(name string, a Amount) {
	if s := g.seriesOf(name); s != nil {
		s.add(a.Bytes)
	}
}

func (g *growth) seriesOf(name string) *series {
	for i := range g.series {
		if g.series[i].name == name {
			return &g.series[i]
		}
	}
	if len(g.series) == maxSeries {
		return nil
	}
	g.series = append(g.series, series{name: name, every: 1})
	return &g.series[len(g.series)-1]
}

func (s *series) add(b unit.Bytes) {
	if s.seen%s.every == 0 {
		if len(s.points) == maxPoints {
			for i := 0; i < maxPoints/2; i++ {
				s.points[i] = s.points[2*i]
			}
			s.points, s.every = s.points[:maxPoints/2], 2*s.every
		}
		s.points = append(s.points, b)
	}
	s.seen++
	s.last = b
}

// grows reports whether it is higher in the middle than at the start, higher still at the end, and rarely falls.
func (s *series) grows() bool {
	n := len(s.points)
	if n < fewSamples {
		return false
	}
	first, middle, last := float64(s.points[0]), float64(s.points[n/2]), float64(s.last)
	falls := 0
	for i := 1; i < n; i++ {
		if s.points[i] < s.points[i-1] {
			falls++
		}
	}
	return middle > first*(1+leastGrowth) && last > middle*(1+leastGrowth) && falls*5 <= n
}

// list returns the series in the text.
func (g *growth) list() (out []Series) {
	for i := range g.series {
		s := &g.series[i]
		if len(s.points) < 2 {
			continue
		}
		x := Series{Name: s.name, Samples: s.seen, First: s.points[0], Last: s.last, Low: s.last, Top: s.last, Grows: s.grows()}
		for _, p := range s.points {
			x.Low, x.Top = min(x.Low, p), max(x.Top, p)
		}
		out = append(out, x)
	}
	return out
}

// finding returns a finding for growth without a failure.
func (g *growth) finding() *Finding {
	for i := range g.series {
		if s := &g.series[i]; s.grows() {
			f := &Finding{Kind: Growth, Times: 1, Step: -1, Allocated: Amount{Bytes: s.last, Known: true}, Text: s.name}
			if strings.EqualFold(s.name, "rss") || s.name == containerMemory {
				f.Device = "host"
			}
			return f
		}
	}
	return nil
}
