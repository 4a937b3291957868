package cards

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/snapshot"
	"github.com/memwall/memwall/unit"
)

// Snapshot draws what a memory snapshot tells, and beside it what a plan says where one is given. all: every device and every stack.
func Snapshot(r *snapshot.Report, a *memwall.Answer, all bool, st term.Style) string {
	p := term.NewPage(st)
	writeRecords(p, r, all)
	if all {
		writeStacks(p, r.Fullest())
	}
	if a != nil {
		p.Blank()
		p.Line(term.Say("beside the plan", term.Bold))
		render.Compared(p, a, all)
	}
	return p.String()
}

// SnapshotParts is what a memory snapshot tells, taken apart for a page.
func SnapshotParts(r *snapshot.Report) []term.Block {
	p := term.NewPage(term.Style{Width: term.MaxWidth, Endless: true})
	writeRecords(p, r, false)
	return p.Blocks
}

// writeRecords are the devices of a snapshot: the fullest, or all.
func writeRecords(p *term.Page, r *snapshot.Report, all bool) {
	if fullest := r.Fullest(); fullest != nil {
		writeRecord(p, fullest, r)
	}
	for i := range r.Devices {
		if d := &r.Devices[i]; d != r.Fullest() && all {
			p.Blank()
			writeRecord(p, d, r)
		}
	}
	if n := len(r.Devices) - 1; n > 0 && !all {
		p.Blank()
		p.Para(term.Pad(term.Gap), term.Say(term.Plural(int64(n), "further device", "further devices")+", which held less: --notes",
			term.Dim))
	}
}

// BytesOf prints bytes of a record in the unit that suits the whole of it.
func BytesOf(n int64) string { return unit.Bytes(n).String() }

// writeRecord is one device.
func writeRecord(p *term.Page, d *snapshot.Device, r *snapshot.Report) {
	for _, o := range d.OOMs {
		p.Dotted(term.Join(term.Say("✗ ", term.InkBad), term.Say("ran out of memory", term.Bold), term.Say("   ")),
			[]string{BytesOf(o.Asked) + " asked for, " + BytesOf(o.Free) + " free on the device",
				strings.Join(o.Frames[:min(1, len(o.Frames))], "")})
	}
	head := []string{fmt.Sprintf("GPU %d", d.Device)}
	if d.Peak.Phase != "" {
		head = append(head, PhaseAt(&d.Peak))
	}
	if d.Events > 0 {
		head = append(head, unit.Count(int64(d.Events))+" events"+lasting(d.Seconds))
	}
	p.Dotted(term.Join(term.Say("peak "+BytesOf(d.Peak.Live), term.Bold), term.Say("   ")), head)
	p.Para(term.Pad(term.Gap), term.Say(fmt.Sprintf("%s reserved then, %s of it unused; %s at most. %s of the bytes below are named",
		BytesOf(d.Peak.Reserved), BytesOf(d.Peak.Unused), BytesOf(d.PeakReserved), term.Percent(d.Named))))
	if r.Stacks == 0 {
		p.Para(term.Pad(term.Gap), term.Say("recorded without stacks, so that nothing says what was for what: "+
			"torch.cuda.memory._record_memory_history(context=\"all\", stacks=\"all\")", term.Dim))
	}
	p.Blank()
	writeHeld(p, d)
	writeGrowth(p, d)
	writeUnused(p, d)
	writeOtherSettings(p, d)
}

// PhaseAt says in which phase of which step a moment was.
func PhaseAt(m *snapshot.Moment) string {
	if m.Phase == "" || m.Step == 0 {
		return m.Phase
	}
	return fmt.Sprintf("%s of step %d", m.Phase, m.Step)
}

// mostOfCategory is how many places of a category are shown.
const mostOfCategory = 4

// lasting is how long a record lasts, where it has times.
func lasting(seconds float64) string {
	if seconds == 0 {
		return ""
	}
	return " in " + unit.Seconds(seconds).String()
}

// writeHeld are the categories at the peak, each with the lines of code that made the most of it.
func writeHeld(p *term.Page, d *snapshot.Device) {
	when := "held at the peak"
	if len(d.OOMs) > 0 {
		when = "held as it ran out"
	}
	widest, figures := term.Cells(when), 0
	for i := range d.Held {
		h := &d.Held[i]
		widest, figures = max(widest, term.Cells(string(h.Category))), max(figures, mib(h.Bytes).Cells())
	}
	room := max(16, p.Style.Cells()-widest-figures-len("tensors")-4*term.Gap)
	tb := &term.Table{Sides: []term.Side{term.Left, term.Decimal, term.Right, term.Left}, Most: map[int]int{3: room}}
	tb.Row(term.Say(when, term.Dim), term.Say("MiB", term.Dim), term.Say("tensors", term.Dim), term.Say("by", term.Dim))
	for i := range d.Held {
		h := &d.Held[i]
		tb.Row(term.Say(string(h.Category)), mib(h.Bytes), term.Say(unit.Count(int64(h.Allocations))),
			placeOf(h.Places, 0, room))
		for j := 1; j < min(mostOfCategory, len(h.Places)); j++ {
			tb.Row(nil, term.Join(tinted(mib(h.Places[j].Bytes), term.Dim)), term.Say(unit.Count(int64(h.Places[j].Allocations)), term.Dim),
				placeOf(h.Places, j, room))
		}
	}
	p.Add(tb)
}

func mib(n int64) term.Text { return term.Say(term.Commas(unit.Fixed(unit.Bytes(n).MiB(), 1))) }

// tinted gives a text another ink.
func tinted(x term.Text, i term.Ink) term.Text {
	for j := range x {
		x[j].Ink = i
	}
	return x
}

// placeOf is a line of code, with the operator that allocated for it where there is room for both.
func placeOf(all []snapshot.Place, i, room int) term.Text {
	if i >= len(all) {
		return nil
	}
	words := all[i].Place
	if op := all[i].Operator; op != "" && !strings.HasSuffix(words, " "+op) && !strings.Contains(words, "::"+op) {
		if both := words + " · " + op; words == "" || term.Cells(both) <= room {
			words = both
		}
	}
	return term.Say(words, term.Dim)
}

// writeGrowth is what stayed with each step, or waits for a backward pass.
func writeGrowth(p *term.Page, d *snapshot.Device) {
	for i := range d.Growth {
		g := &d.Growth[i]
		if i == 0 {
			p.Blank()
		}
		what := term.Plural(int64(g.Steps), "step", "steps")
		if d.Steps == 0 {
			what = term.Plural(int64(g.Steps), "eighth of the record", "eighths of the record")
		}
		p.Para(term.Join(term.Pad(term.Gap), term.Say("grows", term.InkTight), term.Say("    ")),
			term.Say(fmt.Sprintf("%s in each of %s at %s (%s): never freed", BytesOf(g.PerStep), what, g.Place, g.Category)))
	}
	if d.Awaiting > 0 {
		p.Blank()
		p.Para(term.Join(term.Pad(term.Gap), term.Say("waits", term.InkTight), term.Say("    ")),
			term.Say(BytesOf(d.Awaiting)+" of activations wait for a backward pass that the record does not have; torch.no_grad() "+
				"keeps none where none is to come"))
	}
}

// writeUnused is how the reserved bytes lay at the end.
func writeUnused(p *term.Page, d *snapshot.Device) {
	s := &d.Segments
	if s.Count == 0 {
		return
	}
	p.Blank()
	tb := &term.Table{Sides: []term.Side{term.Left, term.Decimal, term.Left}, Most: map[int]int{2: 56}}
	tb.Row(term.Say("reserved at the end", term.Dim), term.Say("MiB", term.Dim), term.Say(""))
	for _, row := range []struct {
		name  string
		bytes int64
		why   string
	}{
		{"tensors", s.Requested, ""},
		{"rounding", s.Rounding, "of their blocks"},
		{"pending", s.Pending, "freed, and a stream may still read it"},
		{"unused segments", s.Whole, "torch.cuda.empty_cache() gives them back"},
		{"unused between", s.Between, "beside tensors that live: fragmentation"},
	} {
		if row.bytes > 0 {
			tb.Row(term.Say(row.name), mib(row.bytes), term.Say(row.why, term.Dim))
		}
	}
	tb.Row(term.Say("reserved"), mib(s.Reserved), term.Say(term.Plural(int64(s.Count), "segment", "segments")+", the largest unused piece "+
		BytesOf(s.Largest), term.Dim))
	p.Add(tb)
}

// writeOtherSettings is what the allocator would have reserved with others.
func writeOtherSettings(p *term.Page, d *snapshot.Device) {
	if len(d.Settings) < 2 {
		return
	}
	p.Blank()
	tb := &term.Table{Sides: []term.Side{term.Left, term.Decimal, term.Decimal, term.Left}}
	tb.Row(term.Say("played again with", term.Dim), term.Say("reserves, MiB", term.Dim), term.Say("saves", term.Dim), term.Say(""))
	for i := range d.Settings {
		s := &d.Settings[i]
		name, why := s.Conf, ""
		if name == "" {
			name, why = "the recorded settings", "recorded: "+strings.TrimSuffix(mib(d.PeakReserved).String(), ".0")
		}
		saves := mib(max(s.Saves, -s.Saves)).String()
		if s.Saves < 0 {
			saves = "−" + saves
		}
		if s.Saves == 0 {
			saves = "0"
		}
		tb.Row(term.Say(name), mib(s.Reserved), term.Say(saves), term.Say(why, term.Dim))
	}
	p.Add(tb)
}

// writeStacks are those that held most, each with its frames.
func writeStacks(p *term.Page, d *snapshot.Device) {
	if d == nil {
		return
	}
	for i := range d.Calls {
		c := &d.Calls[i]
		p.Blank()
		p.Para(term.Pad(term.Gap),
			term.Say(fmt.Sprintf("%s in %s, %s", BytesOf(c.Bytes), term.Plural(int64(c.Allocations), "tensor", "tensors"), c.Category)))
		for _, f := range c.Frames {
			p.Para(term.Pad(2*term.Gap), term.Say(f, term.Dim))
		}
	}
}
