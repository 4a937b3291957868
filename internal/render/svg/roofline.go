package svg

import (
	"fmt"
	"math"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/term"
)

// Sizes of a roofline, in pixels.
const (
	roofWidth  = 568
	roofHeight = 300
	roofLeft   = 72
)

// roofStyle is of the roof.
const roofStyle = `.roof{stroke-width:2;fill:none;stroke-linejoin:round}`

// RooflineTitle is the finding of a roofline: what its first point waits for, and how much of the roof it reaches.
func RooflineTitle(r *memwall.Roofline) string {
	if len(r.Points) == 0 {
		return "No speed is known under these roofs"
	}
	return term.Capital(r.Points[0].Name) + " is bound by " + r.Points[0].Bound
}

// Roofline draws a roofline: rate against operations per byte, both by powers; the roof black, points with their bands.
func Roofline(r *memwall.Roofline) []byte { return rooflinePicture(r).file() }

// RooflineChart is Roofline as a part of a page, half as wide as that.
func RooflineChart(r *memwall.Roofline, name string) Chart {
	return rooflinePicture(r).chart(name, roofWidth)
}

func rooflinePicture(r *memwall.Roofline) *picture {
	style := styles{chartStyle.light + roofStyle, chartStyle.dark}
	return &picture{RooflineTitle(r), []string{"the line is what the datasheet allows; points are predicted, with their bands"},
		describeRoofline(r), style, func(s *svgPage) { s.roofline(r) }}
}

func (s *svgPage) roofline(r *memwall.Roofline) {
	c := &chart{svgPage: s, left: roofLeft, top: s.y + 28, width: s.width - roofLeft - 2*svgMargin, height: roofHeight}
	low, high := r.Ridge/100, 8*r.Ridge
	least := r.Peak
	for i := range r.Points {
		p := &r.Points[i]
		low, high, least = min(low, p.Intensity/3), max(high, 3*p.Intensity), min(least, p.Low)
	}
	c.x = logScale(low, high)
	c.y = logScale(min(least/2e12, c.x.low*r.Bandwidth/1e12), 1.5*r.Peak/1e12) // the roof begins within it
	c.frame("operations for each byte read", "TFLOP/s of one "+r.Device)
	ridgeY := r.Peak / 1e12
	c.path("lim roof", fmt.Sprintf("M%.1f %.1fL%.1f %.1fH%d", c.px(c.x.low), c.py(c.x.low*r.Bandwidth/1e12), c.px(r.Ridge), c.py(ridgeY),
		c.right()))
	c.anchored("m", "end", float64(c.right()), int(c.py(ridgeY))-7, term.Tick(r.Peak/1e12)+" TFLOP/s "+r.Arithmetic)
	middle := math.Sqrt(c.x.low * r.Ridge)
	c.anchored("m", "start", c.px(middle)+10, int(c.py(middle*r.Bandwidth/1e12))+8, term.Tick(r.Bandwidth/1e12)+" TB/s")
	for i := range r.Points {
		c.roofPoint(&r.Points[i], i)
	}
	s.y = c.bottom() + 2*svgLine
}

// roofPoint is a dot with its band and its name.
func (c *chart) roofPoint(p *memwall.RoofPoint, i int) {
	x, y := c.px(p.Intensity), c.py(p.Rate/1e12)
	c.path(fmt.Sprintf("thick s%d", i), fmt.Sprintf("M%.1f %.1fV%.1f", x, c.py(p.Low/1e12), c.py(p.High/1e12)))
	fmt.Fprintf(&c.b, "<circle class=\"d%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"/>\n", i, x, y)
	anchor, at := "start", x+10
	if x > float64(c.right())-170 {
		anchor, at = "end", x-10
	}
	c.anchored("t", anchor, at, int(y)+16, roofName(p))
}

func roofName(p *memwall.RoofPoint) string {
	if p.Sequences > 1 {
		return p.Name + ", " + term.Users(p.Sequences)
	}
	return p.Name
}

func describeRoofline(r *memwall.Roofline) string {
	out := fmt.Sprintf("%s: %s TFLOP/s in %s, %s TB/s, ridge at %s operations per byte", r.Device, term.Tick(r.Peak/1e12), r.Arithmetic,
		term.Tick(r.Bandwidth/1e12), term.Tick(r.Ridge))
	for i := range r.Points {
		p := &r.Points[i]
		out += fmt.Sprintf(". %s: %s operations per byte, %s TFLOP/s", roofName(p), term.Tick(p.Intensity), term.Tick(p.Rate/1e12))
	}
	return out
}
