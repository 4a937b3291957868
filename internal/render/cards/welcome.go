package cards

import (
	"slices"

	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/term"
)

// Welcome is what the program says alone.
type Welcome struct {
	Lines    []string `json:"lines"`
	Examples []string `json:"examples"`
	Machine  string   `json:"machine,omitempty"`
}

// Text draws it: the lines, the examples, this machine when it is known.
func (w *Welcome) Text(st term.Style) string {
	p := term.NewPage(st)
	for i, l := range w.Lines {
		look := term.Plain
		if i == 0 {
			look = term.Bold
		}
		p.Para(nil, term.Say(l, look))
	}
	p.Blank()
	for _, e := range w.Examples {
		p.Line(term.Pad(term.Gap), term.Say(e))
	}
	if w.Machine != "" {
		p.Blank()
		p.Para(term.Join(term.Pad(term.Gap), term.Say("this machine", term.Dim), term.Pad(term.Gap)), term.Say(w.Machine))
	}
	return p.String()
}

// Help is the help of a command.
type Help struct {
	Use, Short, Long string
	Examples         []string
	Groups           []HelpGroup
}

// HelpGroup is a list of commands or flags: name and what it does.
type HelpGroup struct {
	Name string
	Rows [][2]string
}

// Has reports whether the group lists a name.
func (g *HelpGroup) Has(name string) bool {
	return slices.ContainsFunc(g.Rows, func(r [2]string) bool { return r[0] == name })
}

// Text draws the help.
func (h *Help) Text(st term.Style) string {
	p := term.NewPage(st)
	p.Para(term.Join(term.Say(h.Use, term.Bold), term.Say("   ")), term.Say(h.Short))
	if h.Long != "" {
		p.Para(term.Pad(term.Gap), term.Say(h.Long))
	}
	if len(h.Examples) > 0 {
		p.Blank()
		for _, e := range h.Examples {
			for _, l := range render.BrokenLines(e, "  ", st.Cells()) {
				p.Lines = append(p.Lines, term.Say(term.Clean(l, false), term.Dim))
			}
		}
	}
	for _, g := range h.Groups {
		if len(g.Rows) == 0 {
			continue
		}
		p.Blank()
		p.Para(nil, term.Say(g.Name, term.Bold))
		tb := &term.Table{Sides: []term.Side{term.Left, term.Left}, Remark: true, Most: map[int]int{0: 36}}
		for _, r := range g.Rows {
			tb.Row(term.Say(r[0]), term.Say(r[1], term.Dim))
		}
		p.Add(tb)
	}
	return p.String()
}
