package term

import (
	"strings"
)

// Kind is the kind of a block.
type Kind uint8

const (
	Title   Kind = iota // the answer, and what was asked
	Heading             // for what follows
	Words               // a paragraph
	Term                // words about a named thing
	Code                // a command, optionally named
	Grid                // a table
)

// Block is a part of a screen for faces with a layout of their own; the contents equal the terminal's.
type Block struct {
	Kind  Kind
	Lead  Runs // the answer, or the name of a term
	Words Runs
	Rows  []Row // of a table, head first
}

// Row is a row of a table. If it is shorter than the head and its first cell is empty, its last cell spans the rest.
type Row struct {
	Cells  []Cell
	Picked bool // the row that the answer is about
}

// Cell is a cell of a table.
type Cell struct {
	Runs
	Number bool // right-aligned
}

// Runs are the pieces of a line.
type Runs []Run

// Run is a piece of text in one style: "b" bold, "m" muted, "ok", "warn" and "bad" as for verdicts, "" plain.
type Run struct {
	Words, Look string
	To          *Place
}

// Place is the target of a link: a number's derivation by its pointer, a card, or the answer to a changed question.
type Place struct {
	Pointer string
	Page    string         // of a card: models/NAME
	Ask     string         // the page that answers it; "" the same
	Patch   map[string]any // to the question
	Flags   string         // the change as engine arguments
}

// String returns the text without styles.
func (x Runs) String() string {
	var b strings.Builder
	for _, r := range x {
		b.WriteString(r.Words)
	}
	return b.String()
}

// Put adds a block to a screen collected as blocks; false if the screen is drawn as text.
func (p *Page) Put(b Block) bool {
	if p.Style.Endless {
		p.Blocks = append(p.Blocks, b)
	}
	return p.Style.Endless
}

// Opening adds line 1 of a screen whose answer is words.
func (p *Page) Opening(lead, body Text) {
	if !p.Put(Block{Kind: Title, Lead: Join(lead, body).Runs()}) {
		p.Para(lead, body)
	}
}

// Code adds a command after its name.
func (p *Page) Code(lead Text, command string) {
	if !p.Put(Block{Kind: Code, Lead: lead.Runs(), Words: Say(command).Runs()}) {
		p.Para(lead, Say(command))
	}
}

// TerminalOnly adds a line about flags, which only terminals show.
func (p *Page) TerminalOnly(words string) {
	if !p.Style.Endless {
		p.Para(Pad(Gap), Say(words, Dim))
	}
}

// LinkTo returns the text with a link.
func (x Text) LinkTo(to *Place) Text {
	for i := range x {
		x[i].to = to
	}
	return x
}

// LinkedNumber returns a number that links to its derivation.
func LinkedNumber(words, pointer string) Text { return Say(words).LinkTo(&Place{Pointer: pointer}) }

// look returns the style of a span on a page.
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

// Runs returns the text as runs, without surrounding spaces.
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

// heads reports whether a line is bold, and so the heading of what follows.
func (x Runs) heads() bool {
	for _, r := range x {
		if r.Look != "b" {
			return false
		}
	}
	return len(x) > 0
}

// grid returns the table as a block.
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
