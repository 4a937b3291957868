package cards

import (
	"strings"

	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/unit"
)

// NewModel draws the rows that a config.json would add. Rows stand on lines of their own, however long: they
// are to be copied.
func NewModel(n *card.NewModel, st term.Style) string {
	p := term.NewPage(st)
	p.Heading("a row of " + n.RowIn)
	p.Para(term.Pad(term.Gap), term.Say(unit.Count(n.Parameters)+" parameters by memwall's count"))
	p.Para(term.Pad(term.Gap), term.Say("paste it beside its kin; docs/guides/add-a-model.md says what follows", term.Dim))
	writeLeftEmpty(p, n.Empty)
	writeRemarks(p, n.Notes)
	p.Blank()
	writeRaw(p, n.Row)
	p.Blank()
	p.Para(nil, term.Say("a row of "+n.CheckIn, term.Bold))
	p.Para(term.Pad(term.Gap), term.Say("put the publisher's own count in the place of null: it checks memwall's", term.Dim))
	p.Blank()
	writeRaw(p, n.Check)
	return p.String()
}

// NewDevice draws the row that a described device would add.
func NewDevice(n *card.NewDevice, st term.Style) string {
	p := term.NewPage(st)
	p.Heading("a row of " + n.RowIn)
	p.Para(term.Pad(term.Gap), term.Say("cells are apart by tabs; docs/guides/add-an-accelerator.md says what follows", term.Dim))
	writeLeftEmpty(p, n.Empty)
	writeRemarks(p, n.Notes)
	p.Blank()
	writeRaw(p, n.Row)
	return p.String()
}

func writeLeftEmpty(p *term.Page, names []string) {
	if len(names) > 0 {
		p.Labelled("to fill in", strings.Join(names, ", "))
	}
}

func writeRemarks(p *term.Page, notes []string) {
	for _, n := range notes {
		p.Labelled("note", n)
	}
}

// writeRaw writes a line that is data: neither wrapped nor cut.
func writeRaw(p *term.Page, s string) {
	p.Lines = append(p.Lines, term.Text{{Text: tabbed(s, p.Style.ASCII)}})
}

// tabbed cleans what stands between tabs.
func tabbed(s string, only bool) string {
	cells := strings.Split(s, "\t")
	for i, c := range cells {
		cells[i] = term.Clean(c, only)
	}
	return strings.Join(cells, "\t")
}
