package diagnose

import (
	"strings"

	"github.com/memwall/memwall/unit"
)

// gauges are names of figures of memory that training loops and servers print again and again.
var gauges = []string{"memory_allocated", "max_memory_allocated", "memory allocated", "allocated memory", "max_reserved", "memory_reserved", "memory reserved", "GPU memory usage", "GPU memory used", "gpu_mem", "GPU mem", "mem_allocated", "memory/max_allocated", "max mem", "peak_mem", "RSS", "rss"}

// growth follows such figures.
type growth struct{ series []series }

// series keeps few points of one figure, evenly spaced: when they are many every second goes.
type series struct {
	name   string
	points []unit.Bytes
	every  int64 // a point stands for so many samples
	seen   int64
	last   unit.Bytes
}

const (
	maxSeries   = 8
	maxPoints   = 64
	fewSamples  = 8
	leastGrowth = 0.02 // of each half of the time
)

// sample reads the figures of a line.
func (g *growth) sample(text string, in *hits) {
	for i, id := range words().gauges {
		if !in.has(id) {
			continue
		}
		name := gauges[i]
		rest, ok := after(text, name)
		if !ok {
			continue
		}
		rest = strings.TrimLeft(rest, " =:'\"(")
		a, _, ok := amount(rest, false)
		if !ok {
			continue
		}
		if s := g.of(name); s != nil {
			s.add(a.Bytes)
		}
		return
	}
}

func (g *growth) of(name string) *series {
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

// grows: it is higher in the middle than at the start, and at the end than in the middle, and hardly ever falls.
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

// list gives the series that a text holds.
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

// finding is growth without a failure.
func (g *growth) finding() *Finding {
	for i := range g.series {
		if s := &g.series[i]; s.grows() {
			f := &Finding{Kind: Growth, Times: 1, Step: -1, Allocated: Amount{Bytes: s.last, Known: true}, Text: s.name}
			if strings.EqualFold(s.name, "rss") {
				f.Device = "host"
			}
			return f
		}
	}
	return nil
}
