package tui

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/safe"
	"github.com/memwall/memwall/unit"
)

// Local draws this machine: its devices with who holds what of them, its processor and memory, and the words for --on.
func Local(l *card.Local, st term.Style) string {
	p := term.NewPage(st)
	p.Heading("this machine", l.Idle)
	p.Blank()
	writeLocalDevices(p, l.Devices)
	p.Labelled("link", l.Link)
	p.Labelled("processor", processorText(l.Processor))
	p.Labelled("host memory", hostText(l.Host))
	p.Labelled("in use", l.InUse)
	p.Blank()
	writeRates(p, l.Measured)
	if l.Words != "" {
		p.Labelled("as sized", "--on "+safe.Word(l.Words)+reserveText(l.Reserved))
	}
	for _, n := range l.Notes {
		p.Labelled("note", n)
	}
	return p.String()
}

func reserveText(b unit.Bytes) string {
	if b == 0 {
		return ""
	}
	return " --reserve " + unit.Fixed(b.GiB(), 2) + "GiB"
}

func writeLocalDevices(p *term.Page, devices []card.LocalDevice) {
	if len(devices) == 0 {
		return
	}
	tb := &term.Table{Sides: []term.Side{term.Left, term.Decimal, term.Decimal, term.Left, term.Left}, Most: map[int]int{0: 36, 4: 24}}
	tb.Row(term.Say("device", term.Dim), term.Say("GiB", term.Dim), term.Say("in use", term.Dim), term.Say("PCIe", term.Dim), nil)
	for _, d := range devices {
		id := d.ID
		if id == "" {
			id = "not in the catalog"
		}
		memory, used := "—", "—"
		if d.Memory > 0 {
			memory = unit.Fixed(d.Memory.GiB(), 2)
		}
		if d.Used != nil {
			used = unit.Fixed(d.Used.GiB(), 2)
		}
		tb.Row(term.Say(d.Name), term.Say(memory), term.Say(used), term.Say(d.PCIe), term.Say(id, term.Dim))
	}
	p.Add(tb)
	p.Blank()
}

func processorText(c *card.Processor) string {
	if c == nil {
		return ""
	}
	parts := []string{c.Name}
	for _, n := range []struct {
		n         int
		one, many string
	}{{c.Sockets, "socket", "sockets"}, {c.Cores, "core", "cores"}, {c.Threads, "thread", "threads"},
		{c.Channels, "memory channel", "memory channels"}} {
		if n.n > 0 {
			parts = append(parts, term.Plural(int64(n.n), n.one, n.many))
		}
	}
	if c.Cache > 0 {
		parts = append(parts, term.Size(c.Cache)+" cache")
	}
	if len(c.Vectors) > 0 {
		parts = append(parts, strings.Join(c.Vectors[:min(4, len(c.Vectors))], " "))
	}
	return strings.Join(parts, " · ")
}

func hostText(h *card.LocalHost) string {
	if h == nil {
		return ""
	}
	text := term.Size(h.Free) + " free of " + term.Size(h.Total)
	if h.Limit > 0 {
		text += fmt.Sprintf("; a limit of %s, %s", term.Size(h.Limit), h.LimitBy)
	}
	return text
}

// writeRates are what a measurement found, with how far its rounds were apart.
func writeRates(p *term.Page, m *card.Measured) {
	if m == nil {
		return
	}
	tb := &term.Table{Sides: []term.Side{term.Left, term.Right, term.Right}}
	tb.Row(term.Say("measured", term.Dim), term.Say("best", term.Dim), term.Say("worst", term.Dim))
	for _, r := range []struct {
		name string
		of   card.Best
	}{{"memory, read", m.Read}, {"memory, copied", m.Copy}, {"memory, a = b + s × c", m.Triad}} {
		tb.Row(term.Say(r.name), term.Say(unit.ByteRate(r.of.Best).String()), term.Say(unit.ByteRate(r.of.Worst).String()))
	}
	tb.Row(term.Say("multiply-add, one number at a time"), term.Say(unit.FLOPRate(m.FMA.Best).String()),
		term.Say(unit.FLOPRate(m.FMA.Worst).String()))
	p.Add(tb)
	p.Para(term.Pad(term.Gap),
		term.Say(fmt.Sprintf("%s over %s, %s in %s", term.Plural(int64(m.Threads), "thread", "threads"), term.Size(m.Buffer),
			term.Plural(int64(m.Rounds), "round", "rounds"), m.Took), term.Dim))
	p.Labelled("written", m.Written)
	p.Blank()
}
