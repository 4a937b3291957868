package render

import (
	"strconv"
	"strings"

	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/learn"
)

// Lessons draws the list of lessons.
func Lessons(list []learn.Topic, st term.Style) string {
	p := term.NewPage(st)
	p.Para(nil, term.Say("Where an LLM's memory and time go, with numbers computed as you read", term.Bold))
	p.Blank()
	tb := &term.Table{Sides: []term.Side{term.Left, term.Left}, Remark: true}
	for _, t := range list {
		tb.Row(term.Say(t.Topic), term.Say(t.Line, term.Dim))
	}
	p.Add(tb)
	p.Blank()
	p.Para(term.Pad(term.Gap), term.Say("memwall learn TOPIC · --model MODEL --on HARDWARE: the same with other numbers · --quiz: "+
		"questions as in an interview", term.Dim))
	return p.String()
}

// Lesson draws a lesson.
func Lesson(l *learn.Lesson, st term.Style) string {
	p := term.NewPage(st)
	p.Para(nil, term.Say(l.Title, term.Bold))
	writeLessonBlocks(p, l.Blocks)
	for _, u := range l.Unknown {
		p.Blank()
		p.Para(term.Join(term.Pad(term.Gap), term.Say("unknown  ", term.Dim)), term.Say(u, term.Dim))
	}
	p.Blank()
	writeTry(p, l.Try)
	p.Labelled("next", strings.Join(l.Next, ", "))
	return p.String()
}

// writeTry writes commands, the first after a label.
func writeTry(p *term.Page, list []string) {
	for i, words := range list {
		label := []string{"try it", ""}[min(i, 1)]
		p.Hang(term.Join(term.Pad(term.Gap), term.Say(label, term.Dim), term.Pad(term.LabelCells-term.Cells(label))),
			term.Gap+term.LabelCells+term.Gap, term.Say(words))
	}
}

// writeLessonBlocks draws blocks with a blank line between them; laws and errata of a row stand together.
func writeLessonBlocks(p *term.Page, blocks []learn.Block) {
	before := learn.Paragraph
	for i := range blocks {
		b := &blocks[i]
		together := b.Kind == before && (b.Kind == learn.Law || b.Kind == learn.Erratum)
		if !together && i > 0 {
			p.Blank()
		}
		writeLessonBlock(p, b, together)
		before = b.Kind
	}
}

func writeLessonBlock(p *term.Page, b *learn.Block, goesOn bool) {
	switch b.Kind {
	case learn.Law:
		p.Hang(term.Pad(2*term.Gap), 3*term.Gap, prose(p, b.Text.String()))
	case learn.Formula:
		writeDropTo(p, term.Join(term.Pad(term.Gap), term.Say(b.Name)),
			term.Join(term.Say(quantity(b.Formula), term.Bold), term.Pad(term.Gap), term.Say(b.Formula.Basis.String(), term.Dim)))
		(&screen{page: p}).formula(b.Formula)
	case learn.Table:
		writeLessonTable(p, b)
	case learn.Bars:
		writeLessonBars(p, b)
	case learn.Ledger:
		writeLessonLedger(p, b)
	case learn.Erratum:
		writeErratum(p, b.Errata, goesOn)
	default:
		p.Para(term.Pad(term.Gap), prose(p, b.Text.String()))
	}
}

// writeLessonTable aligns columns of numbers on their points; the last column of words wraps.
func writeLessonTable(p *term.Page, b *learn.Block) {
	last := len(b.Head) - 1
	tb := &term.Table{Remark: last > 0 && !numbers(b, last)}
	for c := range b.Head {
		s := term.Left
		if numbers(b, c) {
			s = term.Decimal
		}
		tb.Sides = append(tb.Sides, s)
	}
	var head []term.Text
	for _, h := range b.Head {
		head = append(head, term.Say(h, term.Dim))
	}
	tb.Row(head...)
	for _, r := range b.Rows {
		var row []term.Text
		for _, c := range r.Cells {
			row = append(row, term.Say(c.String()))
		}
		tb.Row(row...)
	}
	p.Add(tb)
}

// numbers reports whether most cells of a column are numbers without a unit of their own.
func numbers(b *learn.Block, column int) bool {
	n := 0
	for _, r := range b.Rows {
		if s := r.Cells[column].String(); term.Numeric(s) && strings.Trim(s, "0123456789.,e-−<≥ %×") == "" {
			n++
		}
	}
	return column > 0 && 2*n >= len(b.Rows)
}

func writeLessonBars(p *term.Page, b *learn.Block) {
	label, words := 0, 0
	for _, r := range b.Rows {
		label, words = max(label, term.Cells(r.Cells[0].String())), max(words, term.Cells(r.Cells[1].String()))
	}
	tb := &term.Table{Sides: []term.Side{term.Left, term.Left, term.Left}}
	for _, r := range b.Rows {
		tb.Row(term.Say(r.Cells[0].String()), p.ShareBar(r.Share, label+words+2*term.Gap), term.Say(r.Cells[1].String()))
	}
	p.Add(tb)
}

func writeLessonLedger(p *term.Page, b *learn.Block) {
	p.Picture(b.Device, "")
	tb := &term.Table{Sides: []term.Side{term.Left, term.Left, term.Decimal, term.Left}, Most: map[int]int{1: 40}}
	tb.Row(nil, term.Say(b.Device.Name, term.Dim), term.Say("GiB", term.Dim), nil)
	for i := range b.Device.Ledger {
		it := &b.Device.Ledger[i]
		f := term.FamilyFor(it.ID)
		tb.Row(term.Say(string(term.Looks[f].Glyph), term.Looks[f].Ink), term.Say(it.Name), term.Say(term.GiB(it.Bytes, 2)),
			term.Say(strings.ReplaceAll(it.Life.String(), "_", "-"), term.Dim))
	}
	p.Blank()
	p.Add(tb)
}

// writeErratum writes a common wrong figure above the right one.
func writeErratum(p *term.Page, w *learn.Wrong, goesOn bool) {
	lead := term.Join(term.Pad(term.Gap), term.Say("often read", term.Dim), term.Pad(term.LabelCells-term.Cells("often read")))
	if goesOn {
		lead = term.Pad(term.Gap + term.LabelCells)
	}
	p.Para(lead, term.Join(term.Say("✗ ", term.InkBad), prose(p, w.Said)))
	right := term.Join(term.Say("✓ ", term.Bold), prose(p, w.Ours.String(), term.Bold))
	if w.Why != nil {
		right = term.Join(right, prose(p, ". "+w.Why.String()))
	}
	p.Para(term.Pad(term.Gap+term.LabelCells), term.Join(right, term.Say(" ("+w.Article+", "+w.Claim+")", term.Dim)))
}

// Question draws a question: its position, the text, and the possible answers.
func Question(q *learn.Question, place string, st term.Style) string {
	p := term.NewPage(st)
	p.Line(term.Say(place, term.Bold), term.Say("  "+term.Joined([]string{q.Topic, "level " + strconv.Itoa(q.Level)}, " · "), term.Dim))
	p.Para(term.Pad(term.Gap), prose(p, q.Text.String()))
	for i, c := range q.Choices {
		p.Hang(term.Pad(2*term.Gap), 3*term.Gap, term.Join(term.Say(string(rune('a'+i))+") ", term.Dim), term.Say(c)))
	}
	if len(q.Choices) == 0 {
		p.Para(term.Pad(term.Gap), term.Say("a number"+wanted(q.Unit)+", right within "+strconv.FormatFloat(100*q.Within, 'g', 3, 64)+" %",
			term.Dim))
	}
	return p.String()
}

// wanted returns the unit of an answer.
func wanted(name string) string {
	switch name {
	case "", "count":
		return ""
	case "×":
		return ": a factor"
	}
	return " in " + name
}

// Worked draws the answer to a question that was answered right, wrong, or not at all.
func Worked(q *learn.Question, verdict string, st term.Style) string {
	p := term.NewPage(st)
	lead := term.Say("answer  ", term.Dim)
	switch verdict {
	case "right":
		lead = term.Say("✓ right  ", term.Bold)
	case "wrong":
		lead = term.Say("✗ wrong  ", term.InkBad)
	}
	p.Para(term.Join(term.Pad(term.Gap), lead), term.Say(q.Answer.Text, term.Bold))
	writeLessonBlocks(p, q.Working)
	p.Blank()
	writeTry(p, q.Try)
	return p.String()
}

// exponents replaces superscripts that are not footnotes.
var exponents = strings.NewReplacer("²", "^2", "³", "^3", "⁴", "^4", "⁶", "^6")

// prose converts a sentence to a text.
func prose(p *term.Page, s string, i ...term.Ink) term.Text {
	if p.Style.ASCII {
		s = exponents.Replace(s)
	}
	return term.Say(s, i...)
}
