package cards

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/internal/rows"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/unit"
)

// Rows draws a store of the user's own rows, and what was just added to it.
func Rows(r *rows.Report, st term.Style) string {
	p := term.NewPage(st)
	p.Heading("rows", term.Plural(int64(r.Rows), "row", "rows")+" of your own")
	if r.Added != nil {
		p.Labelled("added", fmt.Sprintf("%d, and %d were there already", *r.Added, r.Had))
	}
	if r.Rows == 0 {
		p.Labelled("to begin", "memwall compare LOG --share, then memwall rows add FILE; or a benchmark's result")
	}
	p.Labelled("kept in", r.Path)
	if len(r.Groups) > 0 {
		p.Blank()
		p.Add(rowsTable(r))
	}
	for i := range r.Doubts {
		if i == 0 {
			p.Blank()
		}
		d := &r.Doubts[i]
		p.Labelled("quarantine", fmt.Sprintf("%s of %s on %s, %s: %s", d.Figure, d.Model, d.Hardware,
			strings.TrimSpace(term.Tick(d.Measured)+" "+d.Unit), d.Why))
		if i == 9 && len(r.Doubts) > 10 {
			p.Labelled("", fmt.Sprintf("and %s more: --json", unit.Count(int64(len(r.Doubts)-10))))
			break
		}
	}
	for i := range r.Refused {
		p.Labelled("not used", r.Refused[i].At+": "+Refusal(&r.Refused[i]))
		if i == 4 && len(r.Refused) > 5 {
			p.Labelled("", fmt.Sprintf("and %s more: --json", unit.Count(int64(len(r.Refused)-5))))
			break
		}
	}
	if r.Rows > 0 {
		p.Blank()
		p.Labelled("use", "answers tell what was measured of their plan; memwall calibrate --rows makes speeds this machine's own")
	}
	return p.String()
}

func rowsTable(r *rows.Report) *term.Table {
	tb := &term.Table{Sides: []term.Side{term.Left, term.Left, term.Left, term.Right, term.Right, term.Decimal, term.Left}, Remark: true}
	tb.Row(term.Say("devices", term.Dim), term.Say("model", term.Dim), term.Say("engine", term.Dim), term.Say("rows", term.Dim),
		term.Say("figures", term.Dim),
		term.Say("× predicted", term.Dim), term.Say(""))
	for i := range r.Groups {
		g := &r.Groups[i]
		ratio := term.Say("—", term.Dim)
		if g.Ratio != nil {
			ratio = term.Say(unit.Fixed(*g.Ratio, 2))
		}
		tb.Row(term.Say(g.Hardware), term.Say(strings.TrimSpace(g.Model+" "+g.Weights)), term.Say(g.Engine),
			term.Say(unit.Count(int64(g.Rows))),
			term.Say(unit.Count(int64(g.Figures))), ratio, term.Say(strings.Join(g.Sources, ", "), term.Dim))
	}
	return tb
}

// Shared draws a row on its way to others: exactly what leaves, what stays, and what to do with it.
func Shared(w *rows.Written, st term.Style) string {
	if w.Name == "-" {
		return w.Text
	}
	p := term.NewPage(st)
	p.Heading("a row to share", "nothing has been sent")
	p.Para(term.Pad(term.Gap), term.Say("All that the row holds:", term.Dim))
	for line := range strings.Lines(w.Shown) {
		p.Line(term.Pad(term.Gap), term.Say(strings.TrimRight(line, "\n")))
	}
	p.Blank()
	if len(w.Left) > 0 {
		p.Labelled("left out", strings.Join(w.Left, ", ")+": they may name what is yours")
	}
	switch w.As {
	case rows.AsIssue:
		p.Labelled("next", "open this address and read it once more before you send it:")
		p.Blank()
		return p.String() + w.Text + "\n"
	case rows.AsPatch:
		p.Labelled("written", w.Name+"; git apply "+w.Name+" in a checkout of memwall, then a pull request")
	default:
		p.Labelled("written", w.Name+"; memwall rows add "+w.Name+" keeps it, --share=issue and --share=patch hand it on")
	}
	return p.String()
}
