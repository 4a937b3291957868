package svg

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/stable"
)

// Sizes of a chart of plans, in pixels. Names stand in a column on the right, plans without a price left of it.
const (
	frontLeft   = 64
	frontWidth  = 400
	frontHeight = 330
	apartFrom   = 24
	apartWidth  = 56
	flagsAt     = 572
	mostNamed   = 3
)

// PlanFront draws plans by what they cost and how long users wait for a token: what nothing beats as a line, the
// winner and two others by name, the bands of these as whiskers. Plans without a price stand apart. Those that train are
// drawn by the memory that they leave and the time of a step.
func PlanFront(a *memwall.Answer) []byte { return frontPicture(a).file() }

// PlanFrontChart is PlanFront as a part of a page.
func PlanFrontChart(a *memwall.Answer, name string) Chart {
	return frontPicture(a).chart(name, svgWidth)
}

func frontPicture(a *memwall.Answer) *picture {
	f := &front{a: a}
	f.read()
	p := &picture{f.title(), f.subtitle(), f.describe(), chartStyle, f.draw}
	if len(f.spots) == 0 {
		p.draw = func(*svgPage) {}
	}
	return p
}

// draw the chart.
func (f *front) draw(s *svgPage) {
	c := &chart{svgPage: s, left: frontLeft, top: s.y + 44, width: frontWidth, height: frontHeight}
	if s.slim() {
		c.width, c.height = s.width-svgMargin-frontLeft-f.unpriced(), curveHeight
	}
	f.scales(c)
	s.y = c.bottom() + 2*svgLine
	c.frame(f.xs, f.ys)
	c.goals(f.bounds(), c.width+f.unpriced(), "end")
	f.line(c)
	shown := f.names()
	for i := range f.spots {
		f.whiskers(c, &f.spots[i], slices.Contains(shown, &f.spots[i]))
	}
	f.dots(c)
	var all []callout
	for _, p := range shown {
		all = append(all, callout{x: f.px(c, p), y: c.py(p.y.mid), class: "t", name: s.broken(f.name(p), s.flags(), StrongLetter, 3),
			lines: f.lines(s, p)})
	}
	stable.Sort(all, func(a, b callout) int { return cmp.Compare(a.y, b.y) })
	f.labelUnpriced(c)
	c.callouts(all)
}

// scales around all plans, and the bands of those that are named.
func (f *front) scales(c *chart) {
	x, y := extent{low: math.Inf(1)}, extent{low: math.Inf(1)}
	shown := f.names()
	for i := range f.spots {
		p := &f.spots[i]
		px, py := p.x, p.y
		if !slices.Contains(shown, p) {
			px, py = exactly(px.mid), exactly(py.mid)
		}
		if p.priced {
			x.low, x.high = min(x.low, px.low), max(x.high, px.high)
		}
		y.low, y.high = min(y.low, py.low), max(y.high, py.high)
	}
	for _, most := range f.bounds() {
		y.high = max(y.high, 1.05*most)
	}
	if c.y = spanScale(y.low, y.high); f.steps && !f.paid {
		c.x = linearScale(x.high)
	} else if x.high > 0 {
		c.x = logScale(x.low/1.15, x.high*1.15)
	} else {
		c.x = logScale(1, 10)
	}
}

func (f *front) bounds() map[string]float64 {
	switch g := goalDrawn(f.a); {
	case f.steps:
		return nil
	case f.first:
		return g.TTFT
	default:
		return g.TPOT
	}
}

// unpriced is the room for plans without a price.
func (f *front) unpriced() int {
	for i := range f.spots {
		if !f.spots[i].priced {
			return apartFrom + apartWidth
		}
	}
	return 0
}

// labelUnpriced names the place of plans without a price.
func (f *front) labelUnpriced(c *chart) {
	if f.unpriced() > 0 {
		c.path("asked", fmt.Sprintf("M%d %dV%d", c.right()+apartFrom, c.top, c.bottom()))
		c.anchored("m", "middle", float64(c.right()+apartFrom)+apartWidth/2, c.bottom()+svgLine, "no price")
	}
}

func (f *front) px(c *chart, p *spot) float64 {
	if !p.priced {
		return float64(c.right()+apartFrom) + apartWidth/2
	}
	return c.px(p.x.mid)
}

// line joins the plans of which none other costs less and takes less time.
func (f *front) line(c *chart) {
	var all []*spot
	for i := range f.spots {
		if p := &f.spots[i]; p.priced && p.meet {
			all = append(all, p)
		}
	}
	stable.Sort(all, func(a, b *spot) int { return cmp.Or(f.order(a, b), cmp.Compare(a.y.mid, b.y.mid)) })
	d, lowest := "", math.Inf(1)
	for _, p := range all {
		switch {
		case p.y.mid >= lowest:
			continue
		case d == "":
			d = fmt.Sprintf("M%.1f %.1f", c.px(p.x.mid), c.py(p.y.mid))
		default:
			d += fmt.Sprintf("H%.1fV%.1f", c.px(p.x.mid), c.py(p.y.mid))
		}
		lowest = p.y.mid
	}
	if strings.Contains(d, "H") {
		c.path("front", d)
	}
}

// order of plans from the one that is best in what the chart has across: the least money, the most memory left.
func (f *front) order(a, b *spot) int {
	if f.steps && !f.paid {
		return cmp.Compare(b.x.mid, a.x.mid)
	}
	return cmp.Compare(a.x.mid, b.x.mid)
}

// whiskers of a plan that is named.
func (f *front) whiskers(c *chart, p *spot, shown bool) {
	if !shown {
		return
	}
	x, y := f.px(c, p), c.py(p.y.mid)
	if p.y.wide() {
		c.path("whisker", fmt.Sprintf("M%.1f %.1fh8m-4 0V%.1fm-4 0h8", x-4, c.py(p.y.low), c.py(p.y.high)))
	}
	if p.priced && p.x.wide() {
		c.path("whisker", fmt.Sprintf("M%.1f %.1fv8m0 -4H%.1fm0 -4v8", c.px(p.x.low), y-4, c.px(p.x.high)))
	}
}

// dots are drawn the winner last, so that none lies over it.
func (f *front) dots(c *chart) {
	for _, front := range []bool{false, true} {
		for i := len(f.spots) - 1; i >= 0; i-- {
			if p := &f.spots[i]; p.best == front {
				f.dot(c, p)
			}
		}
	}
}

// dot is a plan: filled where nothing beats it, a cross where it misses the goal.
func (f *front) dot(c *chart, p *spot) {
	x, y := f.px(c, p), c.py(p.y.mid)
	switch {
	case !p.meet:
		c.path("miss", fmt.Sprintf("M%.1f %.1fl6 6m0 -6l-6 6", x-3, y-3))
	case p.at <= 0:
		fmt.Fprintf(&c.b, "<circle class=\"d0\" cx=\"%.1f\" cy=\"%.1f\" r=\"6.5\"/>\n", x, y)
	case p.best:
		fmt.Fprintf(&c.b, "<circle class=\"d0\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>\n", x, y)
	default:
		fmt.Fprintf(&c.b, "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"/>\n", x, y)
	}
}
