package render

import (
	"strings"

	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/unit"
)

// NewModel draws the rows that a config.json would add. Rows stand on lines of their own, however long: they
// are to be copied.
func NewModel(n *card.NewModel, st Style) string {
	p := newPage(st)
	p.heading("a row of " + n.RowIn)
	p.para(pad(gap), say(unit.Count(n.Parameters)+" parameters by memwall's count"))
	p.para(pad(gap), say("paste it beside its kin; docs/guides/add-a-model.md says what follows", dim))
	p.leftEmpty(n.Empty)
	p.remarks(n.Notes)
	p.blank()
	p.raw(n.Row)
	p.blank()
	p.para(nil, say("a row of "+n.CheckIn, bold))
	p.para(pad(gap), say("put the publisher's own count in the place of null: it checks memwall's", dim))
	p.blank()
	p.raw(n.Check)
	return p.String()
}

// NewDevice draws the row that a described device would add.
func NewDevice(n *card.NewDevice, st Style) string {
	p := newPage(st)
	p.heading("a row of " + n.RowIn)
	p.para(pad(gap), say("cells are apart by tabs; docs/guides/add-an-accelerator.md says what follows", dim))
	p.leftEmpty(n.Empty)
	p.remarks(n.Notes)
	p.blank()
	p.raw(n.Row)
	return p.String()
}

func (p *page) leftEmpty(names []string) {
	if len(names) > 0 {
		p.labelled("to fill in", strings.Join(names, ", "))
	}
}

func (p *page) remarks(notes []string) {
	for _, n := range notes {
		p.labelled("note", n)
	}
}

// raw writes a line that is data: neither wrapped nor cut.
func (p *page) raw(s string) {
	p.lines = append(p.lines, text{{s: tabbed(s, p.st.ASCII)}})
}

// tabbed cleans what stands between tabs.
func tabbed(s string, only bool) string {
	cells := strings.Split(s, "\t")
	for i, c := range cells {
		cells[i] = clean(c, only)
	}
	return strings.Join(cells, "\t")
}
