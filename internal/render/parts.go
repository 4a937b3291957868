package render

import (
	"strings"

	"github.com/memwall/memwall"
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
	Lead  Text // the answer, or the name of a term
	Words Text
	Rows  []Row // of a table, the first its head
}

// Row of a table. One that is shorter than the head and has nothing in its first cell goes on to the end in its last.
type Row struct {
	Cells  []Cell
	Picked bool // the row that the answer speaks of
}

// Cell of a table.
type Cell struct {
	Text
	Number bool // set on the right
}

// Text is pieces of a line.
type Text []Run

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
func (x Text) String() string {
	var b strings.Builder
	for _, r := range x {
		b.WriteString(r.Words)
	}
	return b.String()
}

// Parts are the blocks of an answer to pick, plan, sim or diagnose, without its notes and commands; none of other answers.
func Parts(a *memwall.Answer) []Block {
	p := newPage(Style{Width: MaxWidth})
	p.st.endless = true
	s := &screen{page: p, a: a}
	switch {
	case a.Ask == "diagnose" && a.Diagnosed != nil:
		p.diagnosed(a)
	case a.Ask == "pick":
		s.picked()
	case a.Ask == "sim" && a.Simulated != nil:
		s.played()
	case a.Ask == "plan" && a.Plan.For == "train":
		s.trained(false)
	case a.Ask == "plan" && a.Plan.Goal != nil && a.Plan.Workload != nil:
		s.aimed(false)
	case a.Ask == "plan":
		s.changed(PlanOptions{If: true})
	}
	return p.blocks
}

// put adds a block to a screen that is taken apart; false where it is drawn.
func (p *page) put(b Block) bool {
	if p.st.endless {
		p.blocks = append(p.blocks, b)
	}
	return p.st.endless
}

// opening is line 1 of a screen whose answer is words.
func (p *page) opening(lead, body text) {
	if !p.put(Block{Kind: Title, Lead: join(lead, body).runs()}) {
		p.para(lead, body)
	}
}

// code is a command behind its name.
func (p *page) code(lead text, command string) {
	if !p.put(Block{Kind: Code, Lead: lead.runs(), Words: say(command).runs()}) {
		p.para(lead, say(command))
	}
}

// elsewhere is a line about flags, which only a terminal has.
func (p *page) elsewhere(words string) {
	if !p.st.endless {
		p.para(pad(gap), say(words, dim))
	}
}

// leads is a text from which faces lead somewhere.
func (x text) leads(to *Place) text {
	for i := range x {
		x[i].to = to
	}
	return x
}

// opens is a number that leads to its origin.
func opens(words, pointer string) text { return say(words).leads(&Place{Pointer: pointer}) }

// lookOf an ink on a page.
func (s *span) look() string {
	switch s.ink {
	case bold:
		if strings.HasPrefix(s.s, "✓") {
			return "ok"
		}
		return "b"
	case dim, inkUnknown:
		return "m"
	case inkTight:
		return "warn"
	case inkBad, inkOver:
		return "bad"
	}
	return ""
}

// runs are a text without the spaces around it.
func (x text) runs() (out Text) {
	for i := range x {
		words := clean(x[i].s, false)
		if len(out) == 0 {
			words = strings.TrimLeft(words, " ")
		}
		run := Run{strings.ReplaceAll(words, hard+hard, ""), x[i].look(), x[i].to}
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
func (x Text) heads() bool {
	for _, r := range x {
		if r.Look != "b" {
			return false
		}
	}
	return len(x) > 0
}

// grid is the table as a block.
func (tb *table) grid() Block {
	b := Block{Kind: Grid}
	for i, r := range tb.rows {
		row := Row{Picked: i > 0 && i == tb.picked}
		for c, x := range r {
			row.Cells = append(row.Cells, Cell{x.runs(), tb.sides[c] != left})
		}
		if len(row.Cells) > 0 {
			b.Rows = append(b.Rows, row)
		}
	}
	return b
}
