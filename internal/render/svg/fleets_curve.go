package svg

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/internal/term"
)

// Sizes of the two charts of a load, in pixels.
const (
	curveWidth  = 480
	curveHeight = 190
	curveApart  = curveHeight + 84
)

// curves are how the times of a few fleets go with the load.
type curves struct {
	a     *memwall.Answer
	all   []*memwall.Candidate
	xs    string
	asked float64 // the load that was asked for
}

// PlanCurve draws the times to the first token and per token against the load, of up to three fleets that have a curve:
// the median thin, the 99th percentile thick, the goal as a line, and where each fleet breaks it.
func PlanCurve(a *memwall.Answer) []byte { return curvePicture(a).file() }

// PlanCurveChart is PlanCurve as a part of a page.
func PlanCurveChart(a *memwall.Answer, name string) Chart {
	return curvePicture(a).chart(name, svgWidth)
}

func curvePicture(a *memwall.Answer) *picture {
	v := &curves{a: a}
	v.read()
	p := &picture{v.title(), v.subtitle(), v.describe(), chartStyle, v.draw}
	if len(v.all) == 0 {
		p.draw = func(*svgPage) {}
	}
	return p
}

// read finds the fleets and what the load is counted in.
func (v *curves) read() {
	for i := range v.a.Candidates {
		if c := &v.a.Candidates[i]; c.Fleet != nil && len(c.Fleet.Curve) > 1 && len(v.all) < mostNamed {
			v.all = append(v.all, c)
		}
	}
	v.xs, v.asked = "of the recording's speed", 1
	if v.a.Plan == nil || v.a.Plan.Workload == nil {
		return
	}
	switch w := v.a.Plan.Workload; {
	case w.Concurrency > 0:
		v.xs, v.asked = "users", float64(w.Concurrency)
	case w.Rate > 0:
		v.xs, v.asked = "requests/s", w.Rate
	}
}

// load of a point of a curve.
func (v *curves) load(p *memwall.CurvePoint) float64 {
	if p.Users != nil {
		return float64(*p.Users)
	}
	return p.Share * v.asked
}

// holds is the most that a fleet was seen to hold, and whether it was seen to hold no more.
func (v *curves) holds(f *memwall.Fleet) (most float64, breaks bool) {
	for i := range f.Curve {
		if p := &f.Curve[i]; p.Met {
			most = max(most, v.load(p))
		}
	}
	last := v.load(&f.Curve[len(f.Curve)-1])
	if f.HoldsUsers != nil {
		most = float64(*f.HoldsUsers)
	} else if f.HoldsRate != nil && v.xs == "requests/s" {
		most = *f.HoldsRate
	}
	return min(most, last), !f.Curve[len(f.Curve)-1].Met
}

func (v *curves) holdWords(f *memwall.Fleet) string {
	most, breaks := v.holds(f)
	switch words := v.amount(most); {
	case most == 0:
		return "holds no load that was played"
	case !breaks:
		return "holds " + words + " and more"
	default:
		return "holds " + words
	}
}

func (v *curves) amount(x float64) string {
	if v.xs == "users" {
		return term.Users(int64(x))
	}
	return term.Tick(x) + " " + v.xs
}

// title is the finding.
func (v *curves) title() string {
	if len(v.all) == 0 {
		return "No fleet was played over the load: " + render.ModelName(v.a.Model)
	}
	return fmt.Sprintf("%s: %s within the goal; %s asked for", fleetDrawn(v.all[0]), v.holdWords(v.all[0].Fleet), v.amount(v.asked))
}

func (v *curves) subtitle() []string {
	out := []string{strings.Join(append([]string{render.ModelName(v.a.Model)}, boundsDrawn(v.a)...), " · ")}
	if len(v.all) == 0 {
		return out
	}
	return append(out, "thick: 99 of 100 requests within; thin: half of them; a ring: the most that keeps within the goal")
}

// draw both charts, one below the other.
func (v *curves) draw(s *svgPage) {
	g := goalDrawn(v.a)
	for _, t := range []struct {
		what   string
		bounds map[string]float64
		of     func(*memwall.CurvePoint) *memwall.Percentiles
	}{
		{"time to the first token (TTFT), ms", g.TTFT, func(p *memwall.CurvePoint) *memwall.Percentiles { return p.TTFT }},
		{"time per token, ms", g.TPOT, func(p *memwall.CurvePoint) *memwall.Percentiles { return p.TPOT }},
	} {
		c := &chart{svgPage: s, left: frontLeft, top: s.y + 44, width: curveWidth, height: curveHeight}
		if s.slim() {
			c.width = s.width - svgMargin - frontLeft
		}
		v.scales(c, t.bounds, t.of)
		s.y = c.bottom() + 2*svgLine
		c.frame(v.xs, t.what)
		v.marks(c, t.bounds)
		v.lines(c, t.of)
		s.y = max(s.y, c.top+curveApart-44)
	}
}

func (v *curves) scales(c *chart, bounds map[string]float64, of func(*memwall.CurvePoint) *memwall.Percentiles) {
	most, low, high := v.asked, math.Inf(1), 0.0
	for _, f := range v.all {
		for i := range f.Fleet.Curve {
			p := &f.Fleet.Curve[i]
			most = max(most, v.load(p))
			if t := of(p); t != nil {
				low, high = min(low, max(0.1, t.P50)), max(high, t.P99)
			}
		}
	}
	for _, ms := range bounds {
		low, high = min(low, ms), max(high, 1.05*ms)
	}
	c.x, c.y = linearScale(most), linearScale(1)
	if high > 0 {
		c.y = spanScale(low, high)
	}
}

// marks are the goal and the load that was asked for.
func (v *curves) marks(c *chart, bounds map[string]float64) {
	at := c.px(v.asked)
	c.path("asked", fmt.Sprintf("M%.1f %dV%d", at, c.top, c.bottom()))
	if c.slim() { // what the axis measures stands above
		c.anchored("m", "start", at+4, c.top+12, "asked")
	} else {
		c.anchored("m", "middle", at, c.top-6, "asked")
	}
	c.goals(bounds, c.width, "start")
}

// lines of all fleets, and their names where these end.
func (v *curves) lines(c *chart, of func(*memwall.CurvePoint) *memwall.Percentiles) {
	var all []callout
	for i, f := range v.all {
		var points []*memwall.CurvePoint
		for j := range f.Fleet.Curve {
			if p := &f.Fleet.Curve[j]; of(p) != nil {
				points = append(points, p)
			}
		}
		if len(points) == 0 {
			continue
		}
		p99 := func(j int) (x, y float64) { return v.load(points[j]), of(points[j]).P99 }
		c.path(fmt.Sprintf("thin s%d", i), c.points(len(points),
			func(j int) (x, y float64) { return v.load(points[j]), of(points[j]).P50 }))
		c.path(fmt.Sprintf("thick s%d", i), c.points(len(points), p99))
		v.ring(c, i, f.Fleet, len(points), p99)
		x, y := p99(len(points) - 1)
		all = append(all, callout{x: c.px(x), y: c.py(y), class: fmt.Sprintf("t d%d", i),
			name: c.broken(fleetDrawn(f), c.flags(), StrongLetter, 1), lines: v.names(c.svgPage, f)})
	}
	stable.Sort(all, func(a, b callout) int { return cmp.Compare(a.y, b.y) })
	c.callouts(all)
}

// ring is the most that a fleet holds, on its line.
func (v *curves) ring(c *chart, i int, f *memwall.Fleet, n int, at func(int) (x, y float64)) {
	most, breaks := v.holds(f)
	if !breaks || most == 0 {
		return
	}
	for j := 1; j < n; j++ {
		x0, y0 := at(j - 1)
		x1, y1 := at(j)
		if most < x0 || most > x1 || x1 == x0 {
			continue
		}
		share := (most - x0) / (x1 - x0)
		fmt.Fprintf(&c.b, "<circle class=\"s%d\" fill=\"none\" stroke-width=\"2\" cx=\"%.1f\" cy=\"%.1f\" r=\"6\"/>\n", i, c.px(most),
			c.py(y0)+share*(c.py(y1)-c.py(y0)))
		return
	}
}

// names of a server, and what it holds.
func (v *curves) names(s *svgPage, c *memwall.Candidate) []string {
	_, server, _ := strings.Cut(c.Change, ", ")
	return append(s.broken(server, s.flags(), SvgLetter, 2), s.broken(v.holdWords(c.Fleet), s.flags(), SvgLetter, 1)...)
}

// describe says the numbers of the picture in words.
func (v *curves) describe() string {
	var out []string
	for _, c := range v.all {
		out = append(out, c.Change+", "+term.Plural(c.Fleet.Replicas, "replica", "replicas")+", "+v.holdWords(c.Fleet))
		for i := range c.Fleet.Curve {
			p := &c.Fleet.Curve[i]
			words := v.amount(v.load(p))
			if p.TTFT != nil {
				words += fmt.Sprintf(": TTFT p50 %s, p99 %s", timeWords(p.TTFT.P50), timeWords(p.TTFT.P99))
			}
			if p.TPOT != nil {
				words += fmt.Sprintf(", TPOT p50 %s, p99 %s", timeWords(p.TPOT.P50), timeWords(p.TPOT.P99))
			}
			out = append(out, words)
		}
	}
	return strings.Join(out, ". ")
}
