package cards

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/term"
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
func Study(s *card.Study, o StudyOptions, st term.Style) string {
	p := term.NewPage(st)
	writeStudy(p, s, o)
	return p.String()
}

// StudyParts are the blocks of Study, its heading first.
func StudyParts(s *card.Study) []term.Block {
	return blocks(func(p *term.Page) { writeStudy(p, s, StudyOptions{}) })
}

func writeStudy(p *term.Page, s *card.Study, o StudyOptions) {
	writeStudyTitle(p, s)
	if s.Answered == 0 {
		return
	}
	for i, f := range s.Failures {
		const few = 5
		if i == few {
			p.Line(term.Pad(term.Gap), term.Say(fmt.Sprintf("and %d more reasons", len(s.Failures)-few), term.Dim))
			break
		}
		p.Para(term.Pad(term.Gap), term.Say(fmt.Sprintf("%s: %s", unit.Count(f.N), f.What)))
	}
	if len(s.Measures) == 0 {
		p.Blank()
		p.Para(nil, term.Say("no figure differs between the answers: --of names those to compare"))
		return
	}
	if len(s.Cases) > 1 {
		writeBests(p, s, o.All)
	}
	writeExplains(p, s)
	writeDesigns(p, s, o)
}

// writeExplains is how much of each measure's variance each factor explains by itself.
func writeExplains(p *term.Page, s *card.Study) {
	p.Blank()
	tb := &term.Table{Sides: []term.Side{term.Left}}
	head := []term.Text{term.Say("what explains the variance", term.Bold)}
	var names []string
	for i := range s.Sensitivity {
		tb.Sides = append(tb.Sides, term.Right)
		head = append(head, term.Say(measureNamed(s, s.Sensitivity[i].Measure), term.Dim))
		for _, x := range s.Sensitivity[i].Shares {
			if !slices.Contains(names, x.Factor) {
				names = append(names, x.Factor)
			}
		}
	}
	tb.Row(head...)
	for _, name := range names {
		row := []term.Text{term.Say(innerOf(name))}
		for i := range s.Sensitivity {
			row = append(row, term.Say(shareOf(&s.Sensitivity[i], name)))
		}
		tb.Row(row...)
	}
	row, uneven := []term.Text{term.Say("only together", term.Dim)}, false
	for i := range s.Sensitivity {
		row = append(row, term.Say(hundredths(s.Sensitivity[i].Together)))
		uneven = uneven || s.Sensitivity[i].Uneven
	}
	tb.Row(row...)
	p.Add(tb)
	if uneven {
		p.Para(term.Pad(term.Gap), term.Say("levels have unlike numbers of answers, so that shares of factors that go together run into "+
			"each other", term.Dim))
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

// writeDesigns of each case as a table: the levels that differ, and each measure with its spread over the seeds.
func writeDesigns(p *term.Page, s *card.Study, o StudyOptions) {
	p.Blank()
	front := fmt.Sprintf("  * is on the front: it %s, and none other is as good in all and better in one; with p5 and p95 over the seeds",
		does[s.Criterion].one)
	p.Para(nil, term.Join(term.Say("designs", term.Bold), term.Say(front, term.Dim)))
	chosen := parted(s)
	hidden := 0
	for i := range s.Cases {
		c := &s.Cases[i]
		of := s.Designs[c.From : c.From+c.Designs]
		if o.Held {
			of = of[:c.Held]
		}
		if i > 0 {
			p.Blank()
		}
		if c.Name != "" {
			p.Para(nil, term.Say(c.Name))
		}
		if len(of) == 0 {
			p.Para(term.Pad(term.Gap), term.Say("no design "+does[s.Criterion].one, term.Dim))
			continue
		}
		hidden += designTable(p, s, of, chosen, o.All)
	}
	if hidden > 0 {
		p.TerminalOnly(fmt.Sprintf("%s more: --all, or --csv FILE", unit.Count(int64(hidden))))
	}
}

// parted are the factors that differ and can be chosen.
func parted(s *card.Study) (chosen []int) {
	for f, name := range s.Factors {
		if Differs(s.Designs, f) && !slices.Contains(s.Asked, name) {
			chosen = append(chosen, f)
		}
	}
	return chosen
}

// designTable gives how many designs it leaves out.
func designTable(p *term.Page, s *card.Study, designs []card.Design, chosen []int, all bool) int {
	tb := &term.Table{Sides: []term.Side{term.Right}, Most: map[int]int{}}
	head := []term.Text{nil}
	if Judged(s) {
		head[0] = term.Say("seeds", term.Dim)
	}
	for _, f := range chosen {
		tb.Most[len(head)] = max(8, p.Style.Cells()/4)
		tb.Sides = append(tb.Sides, term.Left)
		head = append(head, term.Say(innerOf(s.Factors[f]), term.Dim))
	}
	for i := range s.Measures {
		tb.Sides = append(tb.Sides, term.Right, term.Left)
		head = append(head, term.Say(MeasureHead(&s.Measures[i]), term.Dim), nil)
		tb.Give = append([]int{len(head) - 1}, tb.Give...) // percentiles first
	}
	tb.Row(head...)
	for i := range designs {
		if !all && i >= fewDesigns && !designs[i].Front {
			break
		}
		tb.Row(designRow(s, &designs[i], chosen)...)
	}
	p.Add(tb)
	return len(designs) + 1 - len(tb.Rows)
}

// Judged: some designs do not do what is wanted, or not with all seeds. What does not fit is not a design.
func Judged(s *card.Study) bool {
	return slices.ContainsFunc(s.Designs, func(d card.Design) bool { return d.Held < d.Seeds })
}

// innerOf a factor of a workload is the field itself.
func innerOf(factor string) string {
	if _, inner, ok := strings.Cut(factor, "."); ok {
		return inner
	}
	return factor
}

// Differs reports whether designs differ in a factor.
func Differs(all []card.Design, factor int) bool {
	for i := range all {
		if all[i].Levels[factor] != all[0].Levels[factor] {
			return true
		}
	}
	return false
}

func designRow(s *card.Study, d *card.Design, shown []int) (row []term.Text) {
	how, front := term.Plain, ""
	if d.Front {
		how, front = term.Bold, "*"
	}
	lead := term.Say(front, term.Bold) // of one column with the mark, so that a narrow page has room for figures
	if Judged(s) {
		m := heldMark(d)
		if d.Front {
			lead = term.Say(front+term.NoBreak, term.Bold)
		}
		lead = term.Join(lead, term.Say(string(m.Sign)+strings.ReplaceAll(m.Word, " ", term.NoBreak), m.Ink))
	}
	row = append(row, lead)
	for _, f := range shown {
		row = append(row, term.Say(strings.TrimPrefix(d.Names[f], innerOf(s.Factors[f])+" "), how)) // the head says of what
	}
	return append(row, spreads(s, d.Spreads, how)...)
}

// spreads of measures, each with its percentiles where they differ.
func spreads(s *card.Study, all []*card.Spread, how term.Ink) (row []term.Text) {
	for i, x := range all {
		if x == nil {
			row = append(row, term.Say("—"), term.Say(""))
			continue
		}
		m, between := &s.Measures[i], ""
		if low, high := figureOf(m, x.P5), figureOf(m, x.P95); low != high {
			between = low + "–" + high
		}
		row = append(row, term.Say(figureOf(m, x.Mean), how), term.Say(between, term.Dim))
	}
	return row
}

// figureOf a measure: three digits, as at an axis, and of money cents.
func figureOf(m *card.StudyMeasure, x float64) string {
	if strings.HasPrefix(m.Unit, "$") && x < 1000 {
		return unit.Fixed(x, 2)
	}
	return term.Tick(x)
}
