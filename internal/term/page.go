package term

import (
	"strings"
)

// NoBreak is a non-breaking space.
const NoBreak = "\u00a0"

// Page is a screen being written, line by line.
type Page struct {
	Style  Style
	Lines  []Text
	Blocks []Block // of a screen collected as blocks
}

// NewPage returns an empty page in a style.
func NewPage(st Style) *Page { return &Page{Style: st} }

// Ellipsis returns an ellipsis in the page's character set.
func (p *Page) Ellipsis() string { return Clean("…", p.Style.ASCII) }

// Line adds a line, truncating one that is too wide, which no screen should need.
func (p *Page) Line(parts ...Text) {
	if p.Style.Endless {
		words := Join(parts...).Runs()
		p.Put(Block{Kind: map[bool]Kind{true: Heading, false: Words}[words.heads()], Words: words})
		return
	}
	p.Lines = append(p.Lines, Join(parts...).Clean(p.Style.ASCII).trim().cut(p.Style.Cells(), p.Ellipsis()))
}

// Blank adds a blank line; several in a row are one.
func (p *Page) Blank() {
	if n := len(p.Lines); n > 0 && p.Lines[n-1].Cells() > 0 {
		p.Lines = append(p.Lines, nil)
	}
}

// Para adds a text after a lead, with further lines indented by the lead's width.
func (p *Page) Para(lead, body Text) {
	p.Hang(lead, min(lead.Clean(p.Style.ASCII).Cells(), p.Style.Cells()/2), body)
}

// Hang is like Para with an explicit indentation.
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

// String returns the page with its colors; no line ends in a space.
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

// write writes spans of the same ink together.
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

// Heading adds line 1 of a card or a list: the name in bold, then facts separated by dots.
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

// plainDots is like Dotted without bold.
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

// Labelled adds a fact after its label; empty facts are skipped.
func (p *Page) Labelled(label, fact string) { p.Field(label, Say(fact)) }

const LabelCells = 15

// Field adds a text after its label; empty texts are skipped.
func (p *Page) Field(label string, x Text) {
	if strings.TrimSpace(x.String()) == "" {
		return
	}
	p.Para(Join(Pad(Gap), Say(label, Dim), Pad(max(1, LabelCells-Cells(label)))), x)
}
