package term

import (
	"strings"
)

// Kind of a block.
type Kind uint8

const (
	Title   Kind = iota // the answer, and what was asked
	Heading             // of what follows
	Words               // a paragraph
	Term                // words about something that has a name
	Code                // a command, which may have a name too
	Grid                // a table
)

// Block is a part of a screen for faces that set it in their own way. The screen says the same at a terminal.
type Block struct {
	Kind  Kind
	Lead  Runs // the answer, or the name of a term
	Words Runs
	Rows  []Row // of a table, the first its head
}

// Row of a table. One that is shorter than the head and has nothing in its first cell goes on to the end in its last.
type Row struct {
	Cells  []Cell
	Picked bool // the row that the answer speaks of
}

// Cell of a table.
type Cell struct {
	Runs
	Number bool // set on the right
}

// Runs is pieces of a line.
type Runs []Run

// Run is a piece in one look: "b" bold, "m" aside, "ok", "warn" and "bad" as verdicts have it, "" plain.
type Run struct {
	Words, Look string
	To          *Place
}

// Place is where a piece leads: the origin of a number by its pointer, a card, or the answer to a question with a change.
type Place struct {
	Pointer string
	Page    string         // of a card: models/NAME
	Ask     string         // the page that answers it; "" the same
	Patch   map[string]any // of the question
	Flags   string         // the change as arguments of the engine
}

// String is the text without looks.
func (x Runs) String() string {
	var b strings.Builder
	for _, r := range x {
		b.WriteString(r.Words)
	}
	return b.String()
}

// Put adds a block to a screen that is taken apart; false where it is drawn.
func (p *Page) Put(b Block) bool {
	if p.Style.Endless {
		p.Blocks = append(p.Blocks, b)
	}
	return p.Style.Endless
}

// Opening is line 1 of a screen whose answer is words.
func (p *Page) Opening(lead, body Text) {
	if !p.Put(Block{Kind: Title, Lead: Join(lead, body).Runs()}) {
		p.Para(lead, body)
	}
}

// Code is a command behind its name.
func (p *Page) Code(lead Text, command string) {
	if !p.Put(Block{Kind: Code, Lead: lead.Runs(), Words: Say(command).Runs()}) {
		p.Para(lead, Say(command))
	}
}

// TerminalOnly is a line about flags, which only a terminal has.
func (p *Page) TerminalOnly(words string) {
	if !p.Style.Endless {
		p.Para(Pad(Gap), Say(words, Dim))
	}
}

// LinkTo is a text from which faces lead somewhere.
func (x Text) LinkTo(to *Place) Text {
	for i := range x {
		x[i].to = to
	}
	return x
}

// LinkedNumber is a number that leads to its origin.
func LinkedNumber(words, pointer string) Text { return Say(words).LinkTo(&Place{Pointer: pointer}) }

// lookOf an ink on a page.
func (s *Span) look() string {
	switch s.Ink {
	case Bold:
		if strings.HasPrefix(s.Text, "✓") {
			return "ok"
		}
		return "b"
	case Dim, InkUnknown:
		return "m"
	case InkTight:
		return "warn"
	case InkBad, InkOver:
		return "bad"
	}
	return ""
}

// Runs are a text without the spaces around it.
func (x Text) Runs() (out Runs) {
	for i := range x {
		words := Clean(x[i].Text, false)
		if len(out) == 0 {
			words = strings.TrimLeft(words, " ")
		}
		run := Run{strings.ReplaceAll(words, NoBreak+NoBreak, ""), x[i].look(), x[i].to}
		if n := len(out); n > 0 && out[n-1].Look == run.Look && out[n-1].To == run.To {
			out[n-1].Words += run.Words
		} else if words != "" {
			out = append(out, run)
		}
	}
	for n := len(out) - 1; n >= 0; n-- {
		if out[n].Words = strings.TrimRight(out[n].Words, " "); out[n].Words != "" {
			break
		}
		out = out[:n]
	}
	return out
}

// heads: a line in bold is the heading of what follows.
func (x Runs) heads() bool {
	for _, r := range x {
		if r.Look != "b" {
			return false
		}
	}
	return len(x) > 0
}

// grid is the table as a block.
func (tb *Table) grid() Block {
	b := Block{Kind: Grid}
	for i, r := range tb.Rows {
		row := Row{Picked: i > 0 && i == tb.Picked}
		for c, x := range r {
			row.Cells = append(row.Cells, Cell{x.Runs(), tb.Sides[c] != Left})
		}
		if len(row.Cells) > 0 {
			b.Rows = append(b.Rows, row)
		}
	}
	return b
}
