package render

import (
	"strconv"
	"strings"

	"github.com/memwall/memwall/learn"
)

// Lessons draws the list of lessons.
func Lessons(list []learn.Topic, st Style) string {
	p := newPage(st)
	p.para(nil, say("Where the memory and the time of language models go, with numbers computed now", bold))
	p.blank()
	tb := &table{sides: []side{left, left}, remark: true}
	for _, t := range list {
		tb.row(say(t.Topic), say(t.Line, dim))
	}
	p.add(tb)
	p.blank()
	p.para(pad(gap), say("memwall learn TOPIC · --model MODEL --on HARDWARE: the same with other numbers · --quiz: questions as in an interview", dim))
	return p.String()
}

// Lesson draws a lesson.
func Lesson(l *learn.Lesson, st Style) string {
	p := newPage(st)
	p.para(nil, say(l.Title, bold))
	p.lessonBlocks(l.Blocks)
	for _, u := range l.Unknown {
		p.blank()
		p.para(join(pad(gap), say("unknown  ", dim)), say(u, dim))
	}
	p.blank()
	p.try(l.Try)
	p.labelled("next", strings.Join(l.Next, ", "))
	return p.String()
}

// try writes commands behind their label; below the first there is none.
func (p *page) try(list []string) {
	for i, words := range list {
		label := []string{"try it", ""}[min(i, 1)]
		p.hang(join(pad(gap), say(label, dim), pad(labelCells-cells(label))), gap+labelCells+gap, say(words))
	}
}

// lessonBlocks draws blocks with a blank line between them; laws and errata of a row stand together.
func (p *page) lessonBlocks(blocks []learn.Block) {
	before := learn.Paragraph
	for i := range blocks {
		b := &blocks[i]
		together := b.Kind == before && (b.Kind == learn.Law || b.Kind == learn.Erratum)
		if !together && i > 0 {
			p.blank()
		}
		p.lessonBlock(b, together)
		before = b.Kind
	}
}

func (p *page) lessonBlock(b *learn.Block, goesOn bool) {
	switch b.Kind {
	case learn.Law:
		p.hang(pad(2*gap), 3*gap, p.prose(b.Text.String()))
	case learn.Formula:
		p.dropTo(join(pad(gap), say(b.Name)), join(say(quantity(b.Formula), bold), pad(gap), say(b.Formula.Basis.String(), dim)))
		(&screen{page: p}).formula(b.Formula)
	case learn.Table:
		p.lessonTable(b)
	case learn.Bars:
		p.lessonBars(b)
	case learn.Ledger:
		p.lessonLedger(b)
	case learn.Erratum:
		p.erratum(b.Errata, goesOn)
	default:
		p.para(pad(gap), p.prose(b.Text.String()))
	}
}

// lessonTable aligns columns of numbers on their points; the last column of words wraps.
func (p *page) lessonTable(b *learn.Block) {
	last := len(b.Head) - 1
	tb := &table{remark: last > 0 && !numbers(b, last)}
	for c := range b.Head {
		s := left
		if numbers(b, c) {
			s = decimal
		}
		tb.sides = append(tb.sides, s)
	}
	var head []text
	for _, h := range b.Head {
		head = append(head, say(h, dim))
	}
	tb.row(head...)
	for _, r := range b.Rows {
		var row []text
		for _, c := range r.Cells {
			row = append(row, say(c.String()))
		}
		tb.row(row...)
	}
	p.add(tb)
}

// numbers reports whether most cells of a column are numbers without a unit of their own.
func numbers(b *learn.Block, column int) bool {
	n := 0
	for _, r := range b.Rows {
		if s := r.Cells[column].String(); numeric(s) && strings.Trim(s, "0123456789.,e-−<≥ %×") == "" {
			n++
		}
	}
	return column > 0 && 2*n >= len(b.Rows)
}

func (p *page) lessonBars(b *learn.Block) {
	label, words := 0, 0
	for _, r := range b.Rows {
		label, words = max(label, cells(r.Cells[0].String())), max(words, cells(r.Cells[1].String()))
	}
	tb := &table{sides: []side{left, left, left}}
	for _, r := range b.Rows {
		tb.row(say(r.Cells[0].String()), p.shareBar(r.Share, label+words+2*gap), say(r.Cells[1].String()))
	}
	p.add(tb)
}

func (p *page) lessonLedger(b *learn.Block) {
	p.picture(b.Device, "")
	tb := &table{sides: []side{left, left, decimal, left}, most: map[int]int{1: 40}}
	tb.row(nil, say(b.Device.Name, dim), say("GiB", dim), nil)
	for i := range b.Device.Ledger {
		it := &b.Device.Ledger[i]
		f := familyFor(it.ID)
		tb.row(say(string(looks[f].glyph), looks[f].ink), say(it.Name), say(gib(it.Bytes, 2)), say(strings.ReplaceAll(it.Life.String(), "_", "-"), dim))
	}
	p.blank()
	p.add(tb)
}

// erratum sets a figure that is often read above the right one.
func (p *page) erratum(w *learn.Wrong, goesOn bool) {
	lead := join(pad(gap), say("often read", dim), pad(labelCells-cells("often read")))
	if goesOn {
		lead = pad(gap + labelCells)
	}
	p.para(lead, join(say("✗ ", inkBad), p.prose(w.Said)))
	right := join(say("✓ ", bold), p.prose(w.Ours.String(), bold))
	if w.Why != nil {
		right = join(right, p.prose(". "+w.Why.String()))
	}
	p.para(pad(gap+labelCells), join(right, say(" ("+w.Article+", "+w.Claim+")", dim)))
}

// Question draws what is asked: where it stands, the text, and what may be answered.
func Question(q *learn.Question, place string, st Style) string {
	p := newPage(st)
	p.line(say(place, bold), say("  "+joined([]string{q.Topic, "level " + strconv.Itoa(q.Level)}, " · "), dim))
	p.para(pad(gap), p.prose(q.Text.String()))
	for i, c := range q.Choices {
		p.hang(pad(2*gap), 3*gap, join(say(string(rune('a'+i))+") ", dim), say(c)))
	}
	if len(q.Choices) == 0 {
		p.para(pad(gap), say("a number"+wanted(q.Unit)+", right within "+strconv.FormatFloat(100*q.Within, 'g', 3, 64)+" %", dim))
	}
	return p.String()
}

// wanted names the unit that an answer is wanted in.
func wanted(name string) string {
	switch name {
	case "", "count":
		return ""
	case "×":
		return ": a factor"
	}
	return " in " + name
}

// Worked draws the answer to a question. It was answered right, wrong, or not at all.
func Worked(q *learn.Question, verdict string, st Style) string {
	p := newPage(st)
	lead := say("answer  ", dim)
	switch verdict {
	case "right":
		lead = say("✓ right  ", bold)
	case "wrong":
		lead = say("✗ wrong  ", inkBad)
	}
	p.para(join(pad(gap), lead), say(q.Answer.Text, bold))
	p.lessonBlocks(q.Working)
	p.blank()
	p.try(q.Try)
	return p.String()
}

// exponents are signs that are no footnotes in a sentence.
var exponents = strings.NewReplacer("²", "^2", "³", "^3", "⁴", "^4", "⁶", "^6")

// prose makes a text of a sentence.
func (p *page) prose(s string, i ...ink) text {
	if p.st.ASCII {
		s = exponents.Replace(s)
	}
	return say(s, i...)
}
