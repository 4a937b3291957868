package render

import "strings"

// hard is a space at which lines do not break.
const hard = "\u00a0"

// page is a screen being written, line by line.
type page struct {
	st     Style
	lines  []text
	blocks []Block // of a screen that is taken apart
}

func newPage(st Style) *page { return &page{st: st} }

func (p *page) ellipsis() string { return clean("…", p.st.ASCII) }

// line adds a line; one that is too wide is cut, which no screen should need.
func (p *page) line(parts ...text) {
	if p.st.endless {
		words := join(parts...).runs()
		p.put(Block{Kind: map[bool]Kind{true: Heading, false: Words}[words.heads()], Words: words})
		return
	}
	p.lines = append(p.lines, join(parts...).clean(p.st.ASCII).trim().cut(p.st.width(), p.ellipsis()))
}

// blank parts two blocks; several in a row are one.
func (p *page) blank() {
	if n := len(p.lines); n > 0 && p.lines[n-1].cells() > 0 {
		p.lines = append(p.lines, nil)
	}
}

// para adds a text behind a lead; further lines are indented as far as the lead is wide.
func (p *page) para(lead, body text) {
	p.hang(lead, min(lead.clean(p.st.ASCII).cells(), p.st.width()/2), body)
}

// hang is para with an indentation of its own.
func (p *page) hang(lead text, indent int, body text) {
	if p.st.endless {
		name := lead.runs()
		p.put(Block{Kind: map[bool]Kind{true: Term, false: Words}[len(name) > 0], Lead: name, Words: body.runs()})
		return
	}
	lead, body = lead.clean(p.st.ASCII), body.clean(p.st.ASCII)
	width := p.st.width()
	for i, l := range body.wrap(width - max(indent, lead.cells())) {
		if i > 0 {
			lead = say(strings.Repeat(" ", indent))
		}
		p.lines = append(p.lines, join(lead, l))
	}
}

// String is the page with its colours; no line ends in a space.
func (p *page) String() string {
	for len(p.lines) > 0 && p.lines[len(p.lines)-1].cells() == 0 {
		p.lines = p.lines[:len(p.lines)-1]
	}
	var b strings.Builder
	for _, l := range p.lines {
		l.trim().write(&b, p.st.Colour)
		b.WriteByte('\n')
	}
	return b.String()
}

func (x text) trim() text {
	for len(x) > 0 {
		last := &x[len(x)-1]
		s := strings.TrimRight(last.s, " ")
		if s != "" {
			return append(x[:len(x)-1:len(x)-1], span{s, last.ink, last.to})
		}
		x = x[:len(x)-1]
	}
	return x
}

// write paints runs of one ink together.
func (x text) write(b *strings.Builder, c Colour) {
	for i := 0; i < len(x); {
		j := i + 1
		s := x[i].s
		for j < len(x) && x[j].ink == x[i].ink {
			s += x[j].s
			j++
		}
		b.WriteString(x[i].ink.paint(strings.ReplaceAll(s, hard, " "), c))
		i = j
	}
}
