package render

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/unit"
)

// StudyOptions choose what is shown of a study.
type StudyOptions struct {
	// All designs, not the front and some after it; Held only those that do what is wanted.
	All, Held bool
}

// fewDesigns of a case that are shown where not all are asked for.
const fewDesigns = 8

// Study prints what the answers of a study come to: what explains them, and which designs nothing beats.
func Study(s *card.Study, o StudyOptions, st Style) string {
	p := newPage(st)
	p.study(s, o)
	return p.String()
}

// StudyParts are the blocks of Study, its heading first.
func StudyParts(s *card.Study) []Block {
	p := newPage(Style{Width: MaxWidth})
	p.st.endless = true
	p.study(s, StudyOptions{})
	return p.blocks
}

func (p *page) study(s *card.Study, o StudyOptions) {
	p.studyTitle(s)
	if s.Answered == 0 {
		return
	}
	for i, f := range s.Failures {
		const few = 5
		if i == few {
			p.line(pad(gap), say(fmt.Sprintf("and %d more reasons", len(s.Failures)-few), dim))
			break
		}
		p.para(pad(gap), say(fmt.Sprintf("%s: %s", unit.Count(f.N), f.What)))
	}
	if len(s.Measures) == 0 {
		p.blank()
		p.para(nil, say("no figure differs between the answers: --of names those to compare"))
		return
	}
	if len(s.Cases) > 1 {
		p.bests(s, o.All)
	}
	p.explains(s)
	p.designs(s, o)
}

// explains is how much of each measure's variance each factor explains by itself.
func (p *page) explains(s *card.Study) {
	p.blank()
	tb := &table{sides: []side{left}}
	head := []text{say("what explains the variance", bold)}
	var names []string
	for i := range s.Sensitivity {
		tb.sides = append(tb.sides, right)
		head = append(head, say(measureNamed(s, s.Sensitivity[i].Measure), dim))
		for _, x := range s.Sensitivity[i].Shares {
			if !slices.Contains(names, x.Factor) {
				names = append(names, x.Factor)
			}
		}
	}
	tb.row(head...)
	for _, name := range names {
		row := []text{say(innerOf(name))}
		for i := range s.Sensitivity {
			row = append(row, say(shareOf(&s.Sensitivity[i], name)))
		}
		tb.row(row...)
	}
	row, uneven := []text{say("only together", dim)}, false
	for i := range s.Sensitivity {
		row = append(row, say(hundredths(s.Sensitivity[i].Together)))
		uneven = uneven || s.Sensitivity[i].Uneven
	}
	tb.row(row...)
	p.add(tb)
	if uneven {
		p.para(pad(gap), say("levels have unlike numbers of answers, so that shares of factors that go together run into each other", dim))
	}
}

func shareOf(s *card.Sensitivity, factor string) string {
	for _, x := range s.Shares {
		if x.Factor == factor {
			return hundredths(x.Share)
		}
	}
	return "—"
}

func hundredths(x float64) string { return strconv.Itoa(int(100*x+0.5)) + " %" }

// designs of each case as a table: the levels that differ, and each measure with its spread over the seeds.
func (p *page) designs(s *card.Study, o StudyOptions) {
	p.blank()
	front := fmt.Sprintf("  * is on the front: it %s, and none other is as good in all and better in one; with p5 and p95 over the seeds", does[s.Criterion].one)
	p.para(nil, join(say("designs", bold), say(front, dim)))
	chosen := parted(s)
	hidden := 0
	for i := range s.Cases {
		c := &s.Cases[i]
		of := s.Designs[c.From : c.From+c.Designs]
		if o.Held {
			of = of[:c.Held]
		}
		if i > 0 {
			p.blank()
		}
		if c.Name != "" {
			p.para(nil, say(c.Name))
		}
		if len(of) == 0 {
			p.para(pad(gap), say("no design "+does[s.Criterion].one, dim))
			continue
		}
		hidden += p.designTable(s, of, chosen, o.All)
	}
	if hidden > 0 {
		p.elsewhere(fmt.Sprintf("%s more: --all, or --csv FILE", unit.Count(int64(hidden))))
	}
}

// parted are the factors that differ and can be chosen.
func parted(s *card.Study) (chosen []int) {
	for f, name := range s.Factors {
		if differs(s.Designs, f) && !slices.Contains(s.Asked, name) {
			chosen = append(chosen, f)
		}
	}
	return chosen
}

// designTable gives how many designs it leaves out.
func (p *page) designTable(s *card.Study, designs []card.Design, chosen []int, all bool) int {
	tb := &table{sides: []side{left}, most: map[int]int{}}
	head := []text{nil}
	if judged(s) {
		tb.sides, head = append(tb.sides, left), append(head, say("seeds", dim))
	}
	for _, f := range chosen {
		tb.most[len(head)] = max(8, p.st.width()/4)
		tb.sides = append(tb.sides, left)
		head = append(head, say(innerOf(s.Factors[f]), dim))
	}
	for i := range s.Measures {
		tb.sides = append(tb.sides, right, left)
		head = append(head, say(measureHead(&s.Measures[i]), dim), nil)
	}
	tb.row(head...)
	for i := range designs {
		if !all && i >= fewDesigns && !designs[i].Front {
			break
		}
		tb.row(designRow(s, &designs[i], chosen)...)
	}
	p.add(tb)
	return len(designs) + 1 - len(tb.rows)
}

// judged: some designs do not do what is wanted, or not with all seeds. What does not fit is no design.
func judged(s *card.Study) bool {
	return slices.ContainsFunc(s.Designs, func(d card.Design) bool { return d.Held < d.Seeds })
}

// innerOf a factor of a workload is the field itself.
func innerOf(factor string) string {
	if _, inner, ok := strings.Cut(factor, "."); ok {
		return inner
	}
	return factor
}

func differs(all []card.Design, factor int) bool {
	for i := range all {
		if all[i].Levels[factor] != all[0].Levels[factor] {
			return true
		}
	}
	return false
}

func designRow(s *card.Study, d *card.Design, shown []int) (row []text) {
	how, front := plain, ""
	if d.Front {
		how, front = bold, "*"
	}
	row = append(row, say(front, bold))
	if judged(s) {
		m := heldMark(d)
		row = append(row, say(string(m.sign)+m.word, m.ink))
	}
	for _, f := range shown {
		row = append(row, say(strings.TrimPrefix(d.Names[f], innerOf(s.Factors[f])+" "), how)) // the head says of what
	}
	return append(row, spreads(d.Spreads, how)...)
}

// spreads of measures, each with its percentiles where they differ.
func spreads(all []*card.Spread, how ink) (row []text) {
	for _, s := range all {
		switch {
		case s == nil:
			row = append(row, say("—"), say(""))
		case figureOf(s.P5) == figureOf(s.P95):
			row = append(row, say(figureOf(s.Mean), how), say(""))
		default:
			row = append(row, say(figureOf(s.Mean), how), say(figureOf(s.P5)+"–"+figureOf(s.P95), dim))
		}
	}
	return row
}

// figureOf a measure: three digits, as at an axis.
func figureOf(x float64) string { return tick(x) }

// StudySVG draws designs by the first two measures of a study: the front as filled points, the rest as rings, what does not
// do what is wanted as crosses; spreads over seeds and bands of those on the front as whiskers.
func StudySVG(s *card.Study) []byte { return studyPicture(s).file() }

// StudyChart is StudySVG as a part of a page.
func StudyChart(s *card.Study, name string) Chart { return studyPicture(s).chart(name, svgWidth) }

func studyPicture(s *card.Study) *picture {
	var words []string
	for i := range s.Designs {
		if d := &s.Designs[i]; d.Front {
			words = append(words, strings.Join(d.Names, " "))
		}
	}
	under := []string{fmt.Sprintf("%s: %s by %s, %s of %s questions answered", cmp.Or(s.Name, s.ID), plural(int64(len(s.Designs)), "design", "designs"), strings.Join(measureNames(s), " and "), unit.Count(s.Answered), unit.Count(s.Points)),
		"filled: on the front, with whiskers from p5 to p95 over seeds and to the edges of bands"}
	if judged(s) {
		under[1] += "; × " + does[s.Criterion].not
	}
	const longTitle = 96
	return &picture{shorten(studyAnswerOf(s).sentence(), longTitle, "…"), under, "on the front: " + strings.Join(words, "; "), chartStyle, func(p *svgPage) {
		if len(s.Measures) > 1 {
			(&cloud{Study: s}).draw(p)
		}
	}}
}

func measureNames(s *card.Study) (names []string) {
	for i := range s.Measures[:min(2, len(s.Measures))] {
		names = append(names, measureHead(&s.Measures[i]))
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
	c.frame(measureHead(&v.Measures[0]), measureHead(&v.Measures[1]))
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
		named = append([]callout{{x: px, y: py, class: "t", name: p.broken(v.called(d), p.flags(), strongLetter, 2)}}, named...)
	}
	named = named[:min(len(named), 8)]
	slices.SortStableFunc(named, func(a, b callout) int { return cmp.Compare(a.y, b.y) })
	c.callouts(named)
}

// called are the levels of a design that differ from those of others.
func (v *cloud) called(d *card.Design) string {
	var words []string
	for f := range v.Factors {
		if differs(v.Designs, f) {
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
