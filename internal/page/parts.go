package page

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/term"
)

// parts draws the blocks of an answer as elements: terms as definition lists, tables as tables.
func (v *view) parts(blocks []term.Block) {
	var terms all
	for i := range blocks {
		b := &blocks[i]
		if b.Kind == term.Term || b.Kind == term.Code {
			terms = append(terms, v.term(b))
			continue
		}
		v.terms(&terms)
		switch b.Kind {
		case term.Title:
			v.heading(b, followers(blocks[i+1:]))
		case term.Heading:
			v.add(el("h2", v.runs(b.Words)))
		case term.Grid:
			v.add(el("div", class("wider"), v.grid(b)))
		case term.Words:
			if i == 0 || blocks[i-1].Kind != term.Title {
				v.add(el("p", class("cap"), v.runs(b.Words)))
			}
		}
	}
	v.terms(&terms)
}

// followers returns the words directly after a title.
func followers(rest []term.Block) (out []term.Block) {
	if len(rest) > 0 && rest[0].Kind == term.Words {
		out = rest[:1]
	}
	return out
}

// heading draws the answer as the largest text, what it depends on, and what was asked.
func (v *view) heading(b *term.Block, under []term.Block) {
	lead := capitalised(b.Lead)
	v.title = v.question.name + ": " + lead.String()
	out, says := all{el("p", class("ans"), v.runs(lead))}, lead.String()
	for i := range under {
		says += "; " + under[i].Words.String()
		out = append(out, el("p", class("sub"), v.runs(under[i].Words)))
	}
	if len(b.Words) > 0 {
		out = append(out, el("p", class("cap"), v.runs(b.Words)))
	}
	v.add(el("div", id("answer"), attr{"aria-live", "polite"}, out), v.moved(says))
}

// capitalised returns a text with a capital first letter, after a verdict's sign too.
func capitalised(x term.Runs) term.Runs {
	if len(x) == 0 {
		return x
	}
	x = slices.Clone(x)
	if sign, words, ok := strings.Cut(x[0].Words, " "); ok && len([]rune(sign)) == 1 && sign != "a" {
		x[0].Words = sign + " " + term.Capital(words)
	} else {
		x[0].Words = term.Capital(x[0].Words)
	}
	return x
}

// terms ends a definition list.
func (v *view) terms(list *all) {
	if len(*list) > 0 {
		v.add(el("dl", class("why"), *list))
	}
	*list = nil
}

func (v *view) term(b *term.Block) part {
	says := part(el("dd", v.runs(b.Words)))
	if b.Kind == term.Code {
		says = el("dd", command(b.Words.String()))
	}
	return all{el("dt", txt(b.Lead.String())), says, v.below(b.Words)}
}

// below draws the open derivation of a number in a definition list.
func (v *view) below(x term.Runs) part {
	for _, r := range x {
		if r.To != nil && r.To.Pointer != "" && r.To.Pointer == v.state.why {
			if o := render.OriginOf(v.answer, r.To.Pointer); o != nil {
				return el("dd", class("whole"), originOf(o))
			}
		}
	}
	return all(nil)
}

// grid draws a table; its first row is the head.
func (v *view) grid(b *term.Block) part {
	v.tabled++
	columns := len(b.Rows[0].Cells)
	rows := all{}
	for i := range b.Rows {
		r := &b.Rows[i]
		if i == 0 {
			rows = append(rows, el("thead", el("tr", v.cells("th", r, columns))))
			continue
		}
		rows = append(rows, el("tr", when(r.Picked, class("pick")), v.cells("td", r, columns)), v.origins(r, columns))
	}
	return el("table", id(fmt.Sprintf("t%d", v.tabled)), class("grid"), rows)
}

// origins draws the open derivations of a row's numbers below it.
func (v *view) origins(r *term.Row, columns int) (out all) {
	for _, c := range r.Cells {
		for _, run := range c.Runs {
			if run.To != nil {
				out = append(out, v.opened(run.To.Pointer, columns))
			}
		}
	}
	return out
}

// cells draws the cells of a row; if its first cell is empty, its last spans the remaining columns.
func (v *view) cells(tag string, r *term.Row, columns int) (out all) {
	for c := range r.Cells {
		cell := &r.Cells[c]
		look, tag := lookOfCell(cell), tag
		if len(cell.Runs) == 0 {
			tag = "td" // an empty head cell is not a head
		}
		if rest := columns - c; c == len(r.Cells)-1 && rest > 1 && len(r.Cells[0].Runs) == 0 {
			out = append(out, el(tag, class("m"), attr{"colspan", fmt.Sprint(rest)}, v.runs(cell.Runs)))
			continue
		}
		out = append(out, el(tag, when(look != "", class(look)), when(tag == "th", attr{"scope", "col"}), v.runs(cell.Runs)))
	}
	for c := len(r.Cells); c < columns && len(r.Cells[0].Runs) > 0; c++ {
		out = append(out, el(tag))
	}
	return out
}

// lookOfCell returns a cell's class: numbers are right-aligned, verdicts unbroken.
func lookOfCell(c *term.Cell) string {
	switch {
	case c.Number:
		return "n"
	case len(c.Runs) > 0 && slices.Contains([]string{"ok", "warn", "bad"}, c.Runs[0].Look):
		return "v"
	}
	return ""
}

// runs draws the pieces of a line with their styles and links.
func (v *view) runs(x term.Runs) (out all) {
	for _, r := range x {
		p := v.lead(r.Words, r.To)
		if r.Look != "" {
			p = el("span", class(r.Look), p)
		}
		out = append(out, p)
	}
	return out
}

// lead draws words that link to a place, if a URL can express it.
func (v *view) lead(words string, to *term.Place) part {
	switch {
	case to == nil:
		return txt(words)
	case to.Pointer != "":
		return v.figure(words, to.Pointer)
	case to.Page != "":
		return el("a", class("q"), attr{"href", v.asset(to.Page + v.site.folder())}, txt(words))
	case len(to.Patch) == 0:
		return txt(words)
	}
	from := v.state
	if to.Ask != "" {
		from = v.state.asking(to.Ask)
	}
	s, ok := from.patched(to.Patch)
	if !ok {
		return txt(words)
	}
	return el("a", class("q"), attr{"href", s.href()}, when(!v.still, set("data-live")), when(to.Ask == "", set("data-rung")),
		when(to.Flags != "", attr{"title", to.Flags}), txt(words))
}
