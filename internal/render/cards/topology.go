package cards

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/internal/topology"
	"github.com/memwall/memwall/unit"
)

// Topology draws which GPUs to take together, and what their all-reduces cost a model.
func Topology(t *topology.Report, st term.Style) string {
	p := term.NewPage(st)
	p.Heading(fmt.Sprintf("%d × %s", t.GPUs, t.Device), topologyOf(t))
	p.Para(term.Pad(term.Gap), term.Say("the best groups of each size, and what a program picks by default", term.Dim))
	p.Blank()
	writeTaken(p, t)
	p.Blank()
	writeWays(p, t)
	writeTakes(p, t)
	for _, n := range t.Notes {
		p.Labelled("note", n)
	}
	return p.String()
}

// topologyOf is what the matrix is priced for.
func topologyOf(t *topology.Report) string {
	if t.Model == "" {
		return "which to take together"
	}
	return fmt.Sprintf("%s · %s · %s · %s × %s", t.Model, t.Weights, t.Engine, term.Users(t.Users), unit.Length(t.Context))
}

func writeTaken(p *term.Page, t *topology.Report) {
	tb := &term.Table{Sides: []term.Side{term.Right, term.Left, term.Left, term.Right, term.Right, term.Right, term.Right, term.Right}}
	head := []string{"tp", "GPUs", "way", "each way"}
	if t.Model != "" {
		head = append(head, "share", "a layer", "decode/s", "prefill/s")
	}
	tb.Row(inked(head, term.Dim)...)
	for i := range t.Rows {
		r := &t.Rows[i]
		cells := []string{fmt.Sprint(r.TP), groupNames(r), r.Group.Way, "—"}
		if r.TP == 1 {
			cells[1], cells[3] = "any", ""
		} else if r.Rate != nil {
			cells[3] = r.Rate.String()
		}
		tb.Row(inked(append(cells, costs(r.Cost)...))...)
	}
	p.Add(tb)
}

func inked(words []string, inks ...term.Ink) (out []term.Text) {
	for _, w := range words {
		out = append(out, term.Say(w, inks...))
	}
	return out
}

// groupNames are the GPUs of a row and of those as good, the first two.
func groupNames(r *topology.Row) string {
	names := []string{r.Group.Names()}
	for i := range r.Also[:min(1, len(r.Also))] {
		names = append(names, r.Also[i].Names())
	}
	text := strings.Join(names, " | ")
	if len(r.Also) > 1 {
		text += " …"
	}
	if r.Unless {
		text += " (default)"
	}
	return text
}

// costs of a row: the share of a decode step, the time in a layer, tokens a second.
func costs(c *topology.Cost) []string {
	if c == nil {
		return nil
	}
	if c.Verdict == api.DoesNotFit {
		return []string{"", "", "does not fit"}
	}
	out := []string{"", "", "—", "—"}
	if c.Share != nil {
		out[0] = term.Percent(*c.Share)
	}
	if c.Layer != nil {
		out[1] = unit.Significant(*c.Layer, 2) + " µs"
	}
	if c.Decode != nil {
		out[2] = unit.Rate(*c.Decode)
	}
	if c.Prefill != nil {
		out[3] = unit.Rate(*c.Prefill)
	}
	return out
}

// writeWays spells out the ways that the table names.
func writeWays(p *term.Page, t *topology.Report) {
	seen := map[string]bool{"": true}
	for i := range t.Rows {
		if w := t.Rows[i].Group.Way; !seen[w] {
			seen[w] = true
			p.Para(term.Pad(term.Gap), term.Say(topology.WayText(w), term.Dim))
		}
	}
	if t.Model != "" {
		p.Para(term.Pad(term.Gap), term.Say("share: of all-reduces in a decode step; a layer: those of one layer. Ways through PCI "+
			"Express have the rate of the slot: what sockets and processors between them cost is not separated.", term.Dim))
	}
}

// writeTakes says how a program is told, where it would take worse GPUs.
func writeTakes(p *term.Page, t *topology.Report) {
	told := map[int]bool{}
	for i := range t.Rows {
		if t.Rows[i].Unless {
			told[t.Rows[i].TP] = true
		}
	}
	for i := range t.Rows {
		if r := &t.Rows[i]; !r.Unless && told[r.TP] {
			p.Labelled("take", fmt.Sprintf("%s=%s for tp %d", t.Variable, r.Group.Names(), r.TP))
		}
	}
}
