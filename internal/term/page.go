package term

import (
	"strings"
)

// NoBreak is a space at which lines do not break.
const NoBreak = "\u00a0"

// Page is a screen being written, line by line.
type Page struct {
	Style  Style
	Lines  []Text
	Blocks []Block // of a screen that is taken apart
}

// NewPage is an empty page in a style.
func NewPage(st Style) *Page { return &Page{Style: st} }

// Ellipsis is in letters that the page may have.
func (p *Page) Ellipsis() string { return Clean("…", p.Style.ASCII) }

// Line adds a line; one that is too wide is cut, which no screen should need.
func (p *Page) Line(parts ...Text) {
	if p.Style.Endless {
		words := Join(parts...).Runs()
		p.Put(Block{Kind: map[bool]Kind{true: Heading, false: Words}[words.heads()], Words: words})
		return
	}
	p.Lines = append(p.Lines, Join(parts...).Clean(p.Style.ASCII).trim().cut(p.Style.Cells(), p.Ellipsis()))
}

// Blank parts two blocks; several in a row are one.
func (p *Page) Blank() {
	if n := len(p.Lines); n > 0 && p.Lines[n-1].Cells() > 0 {
		p.Lines = append(p.Lines, nil)
	}
}

// Para adds a text behind a lead; further lines are indented as far as the lead is wide.
func (p *Page) Para(lead, body Text) {
	p.Hang(lead, min(lead.Clean(p.Style.ASCII).Cells(), p.Style.Cells()/2), body)
}

// Hang is para with an indentation of its own.
func (p *Page) Hang(lead Text, indent int, body Text) {
	if p.Style.Endless {
		name := lead.Runs()
		p.Put(Block{Kind: map[bool]Kind{true: Term, false: Words}[len(name) > 0], Lead: name, Words: body.Runs()})
		return
	}
	lead, body = lead.Clean(p.Style.ASCII), body.Clean(p.Style.ASCII)
	width := p.Style.Cells()
	for i, l := range body.Wrap(width - max(indent, lead.Cells())) {
		if i > 0 {
			lead = Say(strings.Repeat(" ", indent))
		}
		p.Lines = append(p.Lines, Join(lead, l))
	}
}

// String is the page with its colours; no line ends in a space.
func (p *Page) String() string {
	for len(p.Lines) > 0 && p.Lines[len(p.Lines)-1].Cells() == 0 {
		p.Lines = p.Lines[:len(p.Lines)-1]
	}
	var b strings.Builder
	for _, l := range p.Lines {
		l.trim().write(&b, p.Style.Colour)
		b.WriteByte('\n')
	}
	return b.String()
}

func (x Text) trim() Text {
	for len(x) > 0 {
		last := &x[len(x)-1]
		s := strings.TrimRight(last.Text, " ")
		if s != "" {
			return append(x[:len(x)-1:len(x)-1], Span{s, last.Ink, last.to})
		}
		x = x[:len(x)-1]
	}
	return x
}

// write paints runs of one ink together.
func (x Text) write(b *strings.Builder, c Colour) {
	for i := 0; i < len(x); {
		j := i + 1
		s := x[i].Text
		for j < len(x) && x[j].Ink == x[i].Ink {
			s += x[j].Text
			j++
		}
		b.WriteString(x[i].Ink.paint(strings.ReplaceAll(s, NoBreak, " "), c))
		i = j
	}
}

// Heading is line 1 of a card or a list: the name in bold, then facts between dots.
func (p *Page) Heading(name string, facts ...string) {
	var kept []string
	for _, f := range facts {
		if f != "" {
			kept = append(kept, f)
		}
	}
	lead := Join(Say(name, Bold), Say("   "))
	p.plainDots(lead, kept)
}

// plainDots is dotted without bold.
func (p *Page) plainDots(lead Text, parts []string) {
	at := len(p.Lines)
	p.Dotted(lead, parts)
	for i := at; i < len(p.Lines); i++ {
		for j := range p.Lines[i] {
			if i > at || j >= len(lead) {
				p.Lines[i][j].Ink = Plain
			}
		}
	}
}

// Labelled writes a fact behind its label; empty facts are left out.
func (p *Page) Labelled(label, fact string) { p.Field(label, Say(fact)) }

const LabelCells = 15

// Field writes a text behind its label; empty ones are left out.
func (p *Page) Field(label string, x Text) {
	if strings.TrimSpace(x.String()) == "" {
		return
	}
	p.Para(Join(Pad(Gap), Say(label, Dim), Pad(max(1, LabelCells-Cells(label)))), x)
}
