package render

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/unit"
)

// Local draws this machine: its devices with who holds what of them, its processor and memory, and the words for --on.
func Local(l *card.Local, st Style) string {
	p := newPage(st)
	p.heading("this machine", l.Idle)
	p.blank()
	p.localDevices(l.Devices)
	p.labelled("link", l.Link)
	p.labelled("processor", processorText(l.Processor))
	p.labelled("host memory", hostText(l.Host))
	p.labelled("in use", l.InUse)
	p.blank()
	p.rates(l.Measured)
	if l.Words != "" {
		p.labelled("as sized", "--on "+quoted(l.Words)+reserveText(l.Reserved))
	}
	for _, n := range l.Notes {
		p.labelled("note", n)
	}
	return p.String()
}

func quoted(words string) string {
	if strings.Contains(words, " ") {
		return "'" + words + "'"
	}
	return words
}

func reserveText(b unit.Bytes) string {
	if b == 0 {
		return ""
	}
	return " --reserve " + unit.Fixed(b.GiB(), 2) + "GiB"
}

func (p *page) localDevices(devices []card.LocalDevice) {
	if len(devices) == 0 {
		return
	}
	tb := &table{sides: []side{left, decimal, decimal, left, left}, most: map[int]int{0: 36, 4: 24}}
	tb.row(say("device", dim), say("GiB", dim), say("in use", dim), say("PCIe", dim), nil)
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
		tb.row(say(d.Name), say(memory), say(used), say(d.PCIe), say(id, dim))
	}
	p.add(tb)
	p.blank()
}

func processorText(c *card.Processor) string {
	if c == nil {
		return ""
	}
	parts := []string{c.Name}
	for _, n := range []struct {
		n         int
		one, many string
	}{{c.Sockets, "socket", "sockets"}, {c.Cores, "core", "cores"}, {c.Threads, "thread", "threads"}, {c.Channels, "memory channel", "memory channels"}} {
		if n.n > 0 {
			parts = append(parts, plural(int64(n.n), n.one, n.many))
		}
	}
	if c.Cache > 0 {
		parts = append(parts, size(c.Cache)+" cache")
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
	text := size(h.Free) + " free of " + size(h.Total)
	if h.Limit > 0 {
		text += fmt.Sprintf("; a limit of %s, %s", size(h.Limit), h.LimitBy)
	}
	return text
}

// rates are what a measurement found, with how far its rounds were apart.
func (p *page) rates(m *card.Measured) {
	if m == nil {
		return
	}
	tb := &table{sides: []side{left, right, right}}
	tb.row(say("measured", dim), say("best", dim), say("worst", dim))
	for _, r := range []struct {
		name string
		of   card.Best
	}{{"memory, read", m.Read}, {"memory, copied", m.Copy}, {"memory, a = b + s × c", m.Triad}} {
		tb.row(say(r.name), say(unit.ByteRate(r.of.Best).String()), say(unit.ByteRate(r.of.Worst).String()))
	}
	tb.row(say("multiply-add, one number at a time"), say(unit.FLOPRate(m.FMA.Best).String()), say(unit.FLOPRate(m.FMA.Worst).String()))
	p.add(tb)
	p.para(pad(gap), say(fmt.Sprintf("%s over %s, %s in %s", plural(int64(m.Threads), "thread", "threads"), size(m.Buffer), plural(int64(m.Rounds), "round", "rounds"), m.Took), dim))
	p.labelled("written", m.Written)
	p.blank()
}
