package svg

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/render/cards"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/unit"
)

// Study draws designs by the first two measures of a study: the front as filled points, the rest as rings, what does not
// do what is wanted as crosses; spreads over seeds and bands of those on the front as whiskers.
func Study(s *card.Study) []byte { return studyPicture(s).file() }

// StudyChart is Study as a part of a page.
func StudyChart(s *card.Study, name string) Chart { return studyPicture(s).chart(name, svgWidth) }

func studyPicture(s *card.Study) *picture {
	var words []string
	for i := range s.Designs {
		if d := &s.Designs[i]; d.Front {
			words = append(words, strings.Join(d.Names, " "))
		}
	}
	under := []string{fmt.Sprintf("%s: %s by %s, %s of %s questions answered", cmp.Or(s.Name, s.ID),
		term.Plural(int64(len(s.Designs)), "design", "designs"), strings.Join(measureNames(s), " and "), unit.Count(s.Answered),
		unit.Count(s.Points)),
		"filled: on the front, with whiskers from p5 to p95 over seeds and to the edges of bands"}
	if cards.Judged(s) {
		under[1] += "; × " + cards.Missed(s)
	}
	const longTitle = 96
	return &picture{term.Shorten(cards.StudySentence(s), longTitle, "…"), under, "on the front: " + strings.Join(words, "; "), chartStyle,
		func(p *svgPage) {
			if len(s.Measures) > 1 {
				(&cloud{Study: s}).draw(p)
			}
		}}
}

func measureNames(s *card.Study) (names []string) {
	for i := range s.Measures[:min(2, len(s.Measures))] {
		names = append(names, cards.MeasureHead(&s.Measures[i]))
	}
	return names
}

// cloud is a field of designs.
type cloud struct{ *card.Study }

// reach of a measure of designs that are drawn: with their whiskers, where they are on the front.
func (v *cloud) reach(m int) extent {
	out := extent{}
	first := true
	for i := range v.Designs {
		d := &v.Designs[i]
		if d.Spreads[0] == nil || d.Spreads[1] == nil {
			continue
		}
		low, high := d.Spreads[m].Mean, d.Spreads[m].Mean
		if d.Front {
			low, high = whisker(d.Spreads[m])
		}
		if first {
			out, first = extent{low: low, high: high}, false
		}
		out.low, out.high = min(out.low, low), max(out.high, high)
	}
	return out
}

// whisker of a measure: its spread and its band.
func whisker(s *card.Spread) (low, high float64) {
	low, high = min(s.P5, s.Mean), max(s.P95, s.Mean)
	if s.Low != nil && s.High != nil {
		low, high = min(low, *s.Low), max(high, *s.High)
	}
	return low, high
}

func (v *cloud) draw(p *svgPage) {
	c := &chart{svgPage: p, left: frontLeft, top: p.y + 44, width: frontWidth, height: frontHeight}
	if p.slim() {
		c.width, c.height = p.width-svgMargin-frontLeft, curveHeight
	}
	x, y := v.reach(0), v.reach(1)
	c.x, c.y = spanScale(x.low, x.high), spanScale(y.low, y.high)
	p.y = c.bottom() + 2*svgLine
	c.frame(cards.MeasureHead(&v.Measures[0]), cards.MeasureHead(&v.Measures[1]))
	var named []callout
	for i := len(v.Designs) - 1; i >= 0; i-- {
		d := &v.Designs[i]
		if d.Spreads[0] == nil || d.Spreads[1] == nil {
			continue
		}
		px, py := c.px(d.Spreads[0].Mean), c.py(d.Spreads[1].Mean)
		if d.Held < d.Seeds {
			c.path("miss", fmt.Sprintf("M%.1f %.1fl6 6m0 -6l-6 6", px-3, py-3))
			continue
		}
		if !d.Front {
			fmt.Fprintf(&c.b, "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>\n", px, py)
			continue
		}
		v.whiskers(c, d, px, py)
		fmt.Fprintf(&c.b, "<circle class=\"d0\" cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\"/>\n", px, py)
		named = append([]callout{{x: px, y: py, class: "t", name: p.broken(v.called(d), p.flags(), StrongLetter, 2)}}, named...)
	}
	named = named[:min(len(named), 8)]
	stable.Sort(named, func(a, b callout) int { return cmp.Compare(a.y, b.y) })
	c.callouts(named)
}

// called are the levels of a design that differ from those of others.
func (v *cloud) called(d *card.Design) string {
	var words []string
	for f := range v.Factors {
		if cards.Differs(v.Designs, f) {
			words = append(words, d.Names[f])
		}
	}
	return strings.Join(words, " ")
}

func (v *cloud) whiskers(c *chart, d *card.Design, px, py float64) {
	if low, high := whisker(d.Spreads[1]); high > low {
		c.path("whisker", fmt.Sprintf("M%.1f %.1fh8m-4 0V%.1fm-4 0h8", px-4, c.py(low), c.py(high)))
	}
	if low, high := whisker(d.Spreads[0]); high > low {
		c.path("whisker", fmt.Sprintf("M%.1f %.1fv8m0 -4H%.1fm0 -4v8", c.px(low), py-4, c.px(high)))
	}
}
