package cards

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/unit"
)

// does is what designs are to do, in words: one does, several do, and one does not with all seeds.
var does = map[string]struct{ one, many, not string }{
	card.KeepsGoal:  {"meets the goal", "meet the goal", "misses the goal with some seed"},
	card.HoldsLoad:  {"holds the load", "hold the load", "does not hold the load with some seed"},
	card.ServesLoad: {"serves the load", "serve the load", "does not serve the load"}, card.Fitting: {"fits", "fit", "does not fit"},
}

// Missed is what a design does that does not do what is wanted with all seeds.
func Missed(s *card.Study) string { return does[s.Criterion].not }

// heldMark says whether a design does what is wanted, with all its seeds or with some.
func heldMark(d *card.Design) term.Mark {
	switch {
	case d.Held == d.Seeds:
		return term.Mark{Sign: '✓', Word: "", Ink: term.Bold}
	case d.Held > 0:
		return term.Mark{Sign: '~', Word: fmt.Sprintf(" %d of %d", d.Held, d.Seeds), Ink: term.InkTight}
	}
	return term.Mark{Sign: '✗', Word: "", Ink: term.InkBad}
}

func measureName(m *card.StudyMeasure) string { return cmp.Or(m.Label, m.Name) }

// MeasureHead is a measure as the head of a column.
func MeasureHead(m *card.StudyMeasure) string {
	if m.Unit == "" {
		return measureName(m)
	}
	return measureName(m) + ", " + m.Unit
}

func measureNamed(s *card.Study, name string) string {
	for i := range s.Measures {
		if s.Measures[i].Name == name {
			return MeasureHead(&s.Measures[i])
		}
	}
	return name
}

// writeStudyTitle answers the study: the best of what does what is wanted, or how far nothing does; then what it is, and how much
// of it is answered.
func writeStudyTitle(p *term.Page, s *card.Study) {
	a := studyAnswerOf(s)
	lead, words := term.Join(term.Say(string(a.Sign)+" "+a.subject, a.Ink), term.Say("   ")), term.Say(strings.Join(a.said, " · "))
	if !p.Put(term.Block{Kind: term.Title, Lead: lead.Runs(), Words: words.Runs()}) {
		p.Hang(nil, 2, term.Join(lead, words))
	}
	if a.figures != "" {
		p.Para(term.Pad(term.Gap), term.Say(a.figures))
	}
	asked := fmt.Sprintf("%s: %s of %s questions answered, %s", cmp.Or(s.Name, s.ID), unit.Count(s.Answered), unit.Count(s.Points),
		term.Plural(int64(len(s.Designs)), "design", "designs"))
	p.Para(term.Pad(term.Gap), term.Say(asked, term.Dim))
}

// studyAnswer is the first sentence of a report: what it is about, what is said of that, and figures under it.
type studyAnswer struct {
	term.Mark
	subject string
	said    []string
	figures string
}

// sentence without its mark, for a picture.
func (a *studyAnswer) sentence() string {
	s := a.subject
	for i, words := range a.said {
		s += map[bool]string{true: " ", false: ", "}[i == 0] + words
	}
	return term.Capital(s)
}

// StudySentence is the answer of a study in a sentence.
func StudySentence(s *card.Study) string { return studyAnswerOf(s).sentence() }

func studyAnswerOf(s *card.Study) *studyAnswer {
	yes, part, no := term.Mark{Sign: '✓', Ink: term.Bold}, term.Mark{Sign: '~', Ink: term.InkTight}, term.Mark{Sign: '✗', Ink: term.InkBad}
	n, held := len(s.Cases), 0
	for i := range s.Cases {
		if s.Cases[i].Held > 0 {
			held++
		}
	}
	do := does[s.Criterion]
	switch {
	case s.Answered == 0:
		return &studyAnswer{Mark: term.Mark{Sign: '?', Ink: term.InkUnknown}, subject: "nothing is answered yet"}
	case held == 0 && n > 1:
		return &studyAnswer{no, "no design " + do.one, []string{fmt.Sprintf("in any of %d cases", n)}, nearestOf(s)}
	case held == 0:
		return &studyAnswer{no, "no design " + do.one, nil, nearestOf(s)}
	case n == 1 && s.Cases[0].Best < 0:
		return &studyAnswer{yes, fmt.Sprintf("%d of %d designs %s", s.Cases[0].Held, s.Cases[0].Designs, do.many), nil, ""}
	case n == 1:
		d := &s.Designs[s.Cases[0].Best]
		return &studyAnswer{yes, d.Name, []string{do.one, leastOf(s, s.Cases[0].Held)}, figuresOf(s, d.Spreads, "over the seeds")}
	case s.Overall != nil:
		said := []string{do.one + " in " + allCases(n), leastOf(s, s.Overall.Of)}
		return &studyAnswer{yes, s.Overall.Name, said, figuresOf(s, s.Overall.Spreads, "over the cases")}
	case held == n:
		return &studyAnswer{yes, allCases(n), []string{"have a design that " + do.one, "none does all"}, ""}
	}
	return &studyAnswer{part, fmt.Sprintf("%d of %d cases", held, n), []string{"have a design that " + do.one}, ""}
}

// leastOf is by what a design is the best of so many that do what is wanted.
func leastOf(s *card.Study, of int) string {
	if of == 1 {
		return "no other does"
	}
	word := "least"
	if s.Measures[0].More {
		word = "most"
	}
	return fmt.Sprintf("%s %s of the %d that do", word, measureName(&s.Measures[0]), of)
}

func allCases(n int) string {
	if n == 2 {
		return "both cases"
	}
	return fmt.Sprintf("all %d cases", n)
}

// figuresOf a design, each with its range.
func figuresOf(s *card.Study, all []*card.Spread, over string) string {
	var words []string
	for i, x := range all {
		if x == nil {
			continue
		}
		m := &s.Measures[i]
		one := measureName(m) + " " + inUnit(figureOf(m, x.Mean), m.Unit)
		if low, high := figureOf(m, x.P5), figureOf(m, x.P95); low != high {
			one += fmt.Sprintf(" (%s–%s %s)", low, high, over)
		}
		words = append(words, one)
	}
	return strings.Join(words, ", ")
}

// inUnit is a figure with its unit: 12 ms, $3.49/h.
func inUnit(figure, unit string) string {
	if per, ok := strings.CutPrefix(unit, "$"); ok {
		return "$" + figure + per
	}
	return strings.TrimSpace(figure + " " + unit)
}

// nearestOf cases in which nothing does what is wanted: what does it most often.
func nearestOf(s *card.Study) string {
	for i := range s.Cases {
		if n := s.Cases[i].Nearest; n >= 0 {
			d := &s.Designs[n]
			return fmt.Sprintf("nearest: %s, with %d of %d seeds; %s", d.Name, d.Held, d.Seeds, figuresOf(s, d.Spreads, "over the seeds"))
		}
	}
	return ""
}

// fewCases that are shown where not all are asked for.
const fewCases = 12

// writeBests are the best designs of all cases.
func writeBests(p *term.Page, s *card.Study, all bool) {
	p.Blank()
	p.Para(nil, term.Say("the best of each case", term.Bold))
	tb := &term.Table{Sides: []term.Side{term.Left, term.Left, term.Left},
		Most: map[int]int{0: max(12, p.Style.Cells()/3), 2: max(12, 2*p.Style.Cells()/5)}}
	head := []term.Text{nil, nil, nil}
	for i := range s.Measures {
		tb.Sides = append(tb.Sides, term.Right)
		head = append(head, term.Say(MeasureHead(&s.Measures[i]), term.Dim))
	}
	tb.Row(head...)
	for i := range s.Cases {
		if i == fewCases && !all {
			break
		}
		tb.Row(bestRow(s, &s.Cases[i])...)
	}
	p.Add(tb)
	if more := len(s.Cases) - fewCases; more > 0 && !all {
		p.TerminalOnly(term.Plural(int64(more), "more case", "more cases") + ": --all")
	}
}

func bestRow(s *card.Study, c *card.StudyCase) []term.Text {
	best := max(c.Best, c.Nearest)
	if best < 0 {
		return []term.Text{term.Say(c.Name), term.Say("✗", term.InkBad), term.Say("none", term.Dim)}
	}
	d := &s.Designs[best]
	m := heldMark(d)
	row := []term.Text{term.Say(c.Name), term.Say(string(m.Sign)+m.Word, m.Ink), term.Say(d.Name, term.Bold)}
	for i, x := range d.Spreads {
		if x == nil {
			row = append(row, term.Say("—"))
			continue
		}
		row = append(row, term.Say(figureOf(&s.Measures[i], x.Mean)))
	}
	return row
}
