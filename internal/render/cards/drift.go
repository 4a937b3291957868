package cards

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/internal/rows"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/unit"
)

// Drift draws how figures moved from one version of an engine to the next.
func Drift(d *rows.Drift, st term.Style) string {
	p := term.NewPage(st)
	writeDrift(p, d)
	return p.String()
}

// DriftParts are the blocks of Drift, its heading first.
func DriftParts(d *rows.Drift) []term.Block {
	return blocks(func(p *term.Page) { writeDrift(p, d) })
}

func writeDrift(p *term.Page, d *rows.Drift) {
	several, moves := 0, []string(nil)
	for i := range d.Series {
		s := &d.Series[i]
		if len(s.Versions) > 1 {
			several++
		}
		for j := range s.Versions {
			if s.Versions[j].Moved {
				moves = append(moves, moveOf(s, j))
			}
		}
	}
	p.Heading("drift", fmt.Sprintf("%s of %s", term.Plural(int64(d.Rows), "row", "rows"), d.Store),
		fmt.Sprintf("%d of %s with several versions", several, term.Plural(int64(len(d.Series)), "figure", "figures")))
	switch {
	case several == 0:
		p.Para(term.Pad(term.Gap), term.Say("no figure was measured with two versions of an engine"))
	case len(moves) == 0:
		p.Para(term.Pad(term.Gap), term.Say("no version moved a figure"))
	}
	for _, m := range moves {
		p.Labelled("moved", m)
	}
	writeSeries(p, d)
	writeAside(p, d.Aside)
}

// moveOf says what a version changed.
func moveOf(s *rows.Series, at int) string {
	return fmt.Sprintf("%s of %s on %s: × %s from %s %s to %s", s.Figure, strings.TrimSpace(s.Model+" "+s.Weights), s.Hardware,
		unit.Fixed(*s.Versions[at].Before, 2), s.Engine, s.Versions[at-1].Version, s.Versions[at].Version)
}

// writeSeries is a table for each model on a machine, of the figures that have several versions.
func writeSeries(p *term.Page, d *rows.Drift) {
	var tb *term.Table
	var last string
	for i := range d.Series {
		s := &d.Series[i]
		if len(s.Versions) < 2 {
			continue
		}
		if of := strings.TrimSpace(s.Model+" "+s.Weights) + " on " + s.Hardware + ", " + s.Engine; of != last {
			if tb != nil {
				p.Add(tb)
			}
			p.Blank()
			p.Line(term.Say(of, term.Bold))
			tb, last = driftTable(), of
		}
		for j := range s.Versions {
			tb.Row(driftRow(s, j)...)
		}
	}
	if tb != nil {
		p.Add(tb)
	}
}

func driftTable() *term.Table {
	tb := &term.Table{Sides: []term.Side{term.Left, term.Left, term.Right, term.Decimal, term.Decimal, term.Left}, Remark: true}
	tb.Row(term.Say("figure", term.Dim), term.Say("version", term.Dim), term.Say("measured", term.Dim), term.Say("× predicted", term.Dim),
		term.Say("× before", term.Dim), term.Say(""))
	return tb
}

func driftRow(s *rows.Series, at int) []term.Text {
	v := &s.Versions[at]
	name := term.Say("")
	if at == 0 {
		name = term.Say(s.Figure)
	}
	times := func(x *float64) term.Text {
		if x == nil {
			return term.Say("—", term.Dim)
		}
		return term.Say(unit.Fixed(*x, 2))
	}
	remark := term.Say(v.Last, term.Dim)
	switch {
	case v.Moved:
		remark = term.Join(term.Say("moved ", term.InkTight), remark)
	case v.Quarantined > 0:
		remark = term.Join(remark, term.Say(fmt.Sprintf(" %d in quarantine", v.Quarantined), term.Dim))
	}
	return []term.Text{name, term.Say(v.Version), term.Say(unit.Count(int64(v.Figures)) + " ×"), times(v.Ratio), times(v.Before),
		remark}
}

// writeAside names rows that cannot be read.
func writeAside(p *term.Page, aside []rows.Aside) {
	const few = 5
	for i := range aside {
		if i == 0 {
			p.Blank()
		}
		if i == few {
			p.Labelled("", fmt.Sprintf("and %s more: --json", unit.Count(int64(len(aside)-few))))
			return
		}
		p.Labelled("left aside", "row "+aside[i].ID+" "+aside[i].Why)
	}
}

// fewEvents of a history that are shown where not all are asked for.
const fewEvents = 20

// History draws who gave a team's store what, and when.
func History(h *rows.History, all bool, st term.Style) string {
	p := term.NewPage(st)
	p.Heading("store", term.Plural(int64(h.Rows), "row", "rows"), term.Plural(int64(len(h.People)), "person", "people"), h.Store)
	if h.Added != nil {
		p.Labelled("added", fmt.Sprintf("%d, and %d were there already", *h.Added, h.Had))
	}
	if len(h.Entries) > 0 {
		p.Blank()
		tb := &term.Table{Sides: []term.Side{term.Left, term.Left, term.Left, term.Left, term.Left, term.Right}}
		tb.Row(term.Say("added", term.Dim), term.Say("who", term.Dim), term.Say("devices", term.Dim), term.Say("model", term.Dim),
			term.Say("engine", term.Dim), term.Say("figures", term.Dim))
		for i := range h.Entries {
			if i == fewEvents && !all {
				break
			}
			e := &h.Entries[i]
			day, _, _ := strings.Cut(e.Added, "T")
			tb.Row(term.Say(day), term.Say(e.Who), term.Say(e.Hardware), term.Say(strings.TrimSpace(e.Model+" "+e.Weights)),
				term.Say(e.Engine), term.Say(unit.Count(int64(e.Figures))))
		}
		p.Add(tb)
		if n := len(h.Entries) - fewEvents; n > 0 && !all {
			p.Line(term.Pad(term.Gap), term.Say(fmt.Sprintf("and %s more: --all", unit.Count(int64(n))), term.Dim))
		}
	}
	writeAside(p, h.Aside)
	return p.String()
}
