package render

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/snapshot"
	"github.com/memwall/memwall/unit"
)

// Snapshot draws what a memory snapshot tells, and beside it what a plan says where one is given. all: every device and every stack.
func Snapshot(r *snapshot.Report, a *memwall.Answer, all bool, st Style) string {
	p := newPage(st)
	if fullest := r.Fullest(); fullest != nil {
		p.record(fullest, r)
	}
	for i := range r.Devices {
		if d := &r.Devices[i]; d != r.Fullest() && all {
			p.blank()
			p.record(d, r)
		}
	}
	if n := len(r.Devices) - 1; n > 0 && !all {
		p.blank()
		p.para(pad(gap), say(plural(int64(n), "further device", "further devices")+", which held less: --notes", dim))
	}
	if all {
		p.stacks(r.Fullest())
	}
	if a != nil {
		p.blank()
		p.line(say("beside the plan", bold))
		p.compareHead(a)
		for _, u := range unitsOf(a.Compare) {
			p.blank()
			p.compareTable(a.Compare, u, a.ComparedWith)
		}
		p.compareNotes(a, all)
	}
	return p.String()
}

// bytesOf prints bytes of a record in the unit that suits the whole of it.
func bytesOf(n int64) string { return unit.Bytes(n).String() }

// record is one device.
func (p *page) record(d *snapshot.Device, r *snapshot.Report) {
	for _, o := range d.OOMs {
		p.dotted(join(say("✗ ", inkBad), say("ran out of memory", bold), say("   ")), []string{bytesOf(o.Asked) + " asked for, " + bytesOf(o.Free) + " free on the device", strings.Join(o.Frames[:min(1, len(o.Frames))], "")})
	}
	head := []string{fmt.Sprintf("GPU %d", d.Device)}
	if d.Peak.Phase != "" {
		head = append(head, phaseAt(&d.Peak))
	}
	if d.Events > 0 {
		head = append(head, fmt.Sprintf("%s events in %s", unit.Count(int64(d.Events)), unit.Seconds(d.Seconds)))
	}
	p.dotted(join(say("peak "+bytesOf(d.Peak.Live), bold), say("   ")), head)
	p.para(pad(gap), say(fmt.Sprintf("%s reserved then, %s of it unused; %s at most. %s of the bytes below are named", bytesOf(d.Peak.Reserved), bytesOf(d.Peak.Unused), bytesOf(d.PeakReserved), percent(d.Named))))
	if r.Stacks == 0 {
		p.para(pad(gap), say("recorded without stacks, so that nothing says what was for what: torch.cuda.memory._record_memory_history(context=\"all\", stacks=\"all\")", dim))
	}
	p.blank()
	p.held(d)
	p.growth(d)
	p.unused(d)
	p.otherSettings(d)
}

// phaseAt says in which phase of which step a moment was.
func phaseAt(m *snapshot.Moment) string {
	if m.Phase == "" || m.Step == 0 {
		return m.Phase
	}
	return fmt.Sprintf("%s of step %d", m.Phase, m.Step)
}

// mostOfCategory is how many places of a category are shown.
const mostOfCategory = 4

// held are the categories at the peak, each with the lines of code that made the most of it.
func (p *page) held(d *snapshot.Device) {
	tb := &table{sides: []side{left, decimal, right, left}, most: map[int]int{3: 44}}
	when := "held at the peak"
	if len(d.OOMs) > 0 {
		when = "held as it ran out"
	}
	tb.row(say(when, dim), say("MiB", dim), say("tensors", dim), say("by", dim))
	for i := range d.Held {
		h := &d.Held[i]
		tb.row(say(string(h.Category)), mib(h.Bytes), say(unit.Count(int64(h.Allocations))), placeOf(h.Places, 0))
		for j := 1; j < min(mostOfCategory, len(h.Places)); j++ {
			tb.row(nil, join(mib(h.Places[j].Bytes).in(dim)), say(unit.Count(int64(h.Places[j].Allocations)), dim), placeOf(h.Places, j))
		}
	}
	p.add(tb)
}

func mib(n int64) text { return say(commas(unit.Fixed(unit.Bytes(n).MiB(), 1))) }

// in gives a text another ink.
func (x text) in(i ink) text {
	for j := range x {
		x[j].ink = i
	}
	return x
}

// placeOf is a line of code with the operator that allocated for it.
func placeOf(all []snapshot.Place, i int) text {
	if i >= len(all) {
		return nil
	}
	words := all[i].Place
	if op := all[i].Operator; op != "" && !strings.HasSuffix(words, " "+op) && !strings.Contains(words, "::"+op) {
		words += " · " + op
	}
	return say(words, dim)
}

// growth is what stayed with each step.
func (p *page) growth(d *snapshot.Device) {
	for i := range d.Growth {
		g := &d.Growth[i]
		if i == 0 {
			p.blank()
		}
		what := plural(int64(g.Steps), "step", "steps")
		if d.Steps == 0 {
			what = plural(int64(g.Steps), "eighth of the record", "eighths of the record")
		}
		p.para(join(pad(gap), say("grows", inkTight), say("    ")), say(fmt.Sprintf("%s in each of %s at %s (%s): never freed", bytesOf(g.PerStep), what, g.Place, g.Category)))
	}
}

// unused is how the reserved bytes lay at the end.
func (p *page) unused(d *snapshot.Device) {
	s := &d.Segments
	if s.Count == 0 {
		return
	}
	p.blank()
	tb := &table{sides: []side{left, decimal, left}, most: map[int]int{2: 56}}
	tb.row(say("reserved at the end", dim), say("MiB", dim), say(""))
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
			tb.row(say(row.name), mib(row.bytes), say(row.why, dim))
		}
	}
	tb.row(say("reserved"), mib(s.Reserved), say(plural(int64(s.Count), "segment", "segments")+", the largest unused piece "+bytesOf(s.Largest), dim))
	p.add(tb)
}

// otherSettings is what the allocator would have reserved with others.
func (p *page) otherSettings(d *snapshot.Device) {
	if len(d.Settings) < 2 {
		return
	}
	p.blank()
	tb := &table{sides: []side{left, decimal, decimal, left}}
	tb.row(say("played again with", dim), say("reserves, MiB", dim), say("saves", dim), say(""))
	for i := range d.Settings {
		s := &d.Settings[i]
		name, why := s.Conf, ""
		if name == "" {
			name, why = "the recorded settings", "recorded: "+strings.TrimSuffix(mib(d.PeakReserved).string(), ".0")
		}
		saves := mib(max(s.Saves, -s.Saves)).string()
		if s.Saves < 0 {
			saves = "−" + saves
		}
		if s.Saves == 0 {
			saves = "0"
		}
		tb.row(say(name), mib(s.Reserved), say(saves), say(why, dim))
	}
	p.add(tb)
}

// stacks are those that held most, each with its frames.
func (p *page) stacks(d *snapshot.Device) {
	if d == nil {
		return
	}
	for i := range d.Calls {
		c := &d.Calls[i]
		p.blank()
		p.para(pad(gap), say(fmt.Sprintf("%s in %s, %s", bytesOf(c.Bytes), plural(int64(c.Allocations), "tensor", "tensors"), c.Category)))
		for _, f := range c.Frames {
			p.para(pad(2*gap), say(f, dim))
		}
	}
}
