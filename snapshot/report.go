package snapshot

import (
	"cmp"
	"maps"
	"slices"

	"github.com/memwall/memwall/internal/stable"
)

// Report describes each device of a snapshot.
type Report struct {
	Devices  []Device `json:"devices"`
	Settings Settings `json:"allocator_settings"`
	Stacks   int      `json:"stacks"` // distinct
}

// Device describes the recording of one device. Bytes are those that requests take of blocks, in multiples of 512.
type Device struct {
	Device  int     `json:"device"`
	Events  int     `json:"events"`
	Seconds float64 `json:"seconds"` // from first to last event
	// Peak is the moment with most live bytes; without a recording, the moment of the snapshot.
	Peak Moment `json:"peak"`
	// End is the moment of the snapshot.
	End          Moment `json:"end"`
	PeakReserved int64  `json:"reserved_peak_bytes"`
	// HeldAt is the moment explained: when memory ran out, else the peak.
	HeldAt Moment      `json:"held_at"`
	Held   []Held      `json:"held"`
	Named  float64     `json:"named_share"` // share of bytes held that were recorded and categorized
	Calls  []StackHeld `json:"stacks,omitempty"`
	// Growth lists what accumulates with every step, largest first.
	Growth []Growth `json:"growth,omitempty"`
	// Awaiting is the bytes of activations that await a backward pass at the end, if the recording has none.
	Awaiting int64      `json:"awaiting_backward_bytes,omitempty"`
	Steps    int        `json:"steps"` // complete ones
	Segments Segments   `json:"segments"`
	OOMs     []OOM      `json:"out_of_memory,omitempty"`
	Settings []Setting  `json:"other_settings,omitempty"`
	Timeline []Timeline `json:"timeline,omitempty"`
}

// Moment is what the allocator held after an event.
type Moment struct {
	Event    int     `json:"event"` // -1 before the first
	Seconds  float64 `json:"seconds"`
	Phase    string  `json:"phase,omitempty"`
	Step     int     `json:"step,omitempty"` // from 1
	Live     int64   `json:"live_bytes"`
	Reserved int64   `json:"reserved_bytes"`
	Unused   int64   `json:"unused_bytes"` // reserved but not live
}

// Held is what a category held, and the lines of code responsible for most of it.
type Held struct {
	Category    Category `json:"category"`
	Bytes       int64    `json:"bytes"`
	Allocations int      `json:"allocations"`
	Places      []Place  `json:"places,omitempty"`
}

// Place is a line of code outside PyTorch, with the operator that allocated for it.
type Place struct {
	Place       string `json:"place"`
	Operator    string `json:"operator,omitempty"`
	Bytes       int64  `json:"bytes"`
	Allocations int    `json:"allocations"`
}

// StackHeld is what one stack held; innermost frame first.
type StackHeld struct {
	Frames      []string `json:"frames"`
	Category    Category `json:"category"`
	Bytes       int64    `json:"bytes"`
	Allocations int      `json:"allocations"`
}

// Growth is a stack with allocations from several steps still alive at the end.
type Growth struct {
	Place    string   `json:"place"`
	Frames   []string `json:"frames"`
	Category Category `json:"category"`
	PerStep  int64    `json:"bytes_per_step"`
	Steps    int      `json:"steps"` // that left something
	Bytes    int64    `json:"bytes"`
}

// OOM is a failed request.
type OOM struct {
	Event  int      `json:"event"`
	Asked  int64    `json:"asked_bytes"`
	Free   int64    `json:"device_free_bytes"`
	Frames []string `json:"frames,omitempty"`
}

// Timeline is what each category held at the fullest moment of an interval.
type Timeline struct {
	Seconds  float64            `json:"seconds"`
	Live     int64              `json:"live_bytes"`
	Reserved int64              `json:"reserved_bytes"`
	Held     map[Category]int64 `json:"held"`
}

// Limits on rows of a report.
const (
	mostPlaces = 12
	mostStacks = 24
	mostFrames = 12
	mostGrowth = 8
)

// Report replays the recording of every device.
func (s *Snapshot) Report() *Report {
	s.stacks.settle()
	out := &Report{Settings: s.Settings, Stacks: len(s.stacks.lists) - 1}
	for d := range s.devices() {
		if r := s.play(d); r.events > 0 || r.last.reserved > 0 {
			out.Devices = append(out.Devices, r.report())
		}
	}
	return out
}

// devices returns the number of devices.
func (s *Snapshot) devices() int {
	n := len(s.traces)
	for i := range s.segments {
		n = max(n, int(s.segments[i].device)+1)
	}
	return n
}

func (r *replay) report() Device {
	c := newCount(r)
	r.lives(c.add)
	d := Device{
		Device: r.device, Events: r.events, Seconds: seconds(r.ended - r.begun), Peak: r.moment(r.peak), End: r.moment(r.last),
		PeakReserved: r.most, HeldAt: r.moment(c.moment),
		Held: c.peakByCategory(), Calls: c.calls(), Growth: c.grown(), Awaiting: c.waits,
		Steps: c.judge.last.step, Segments: r.layout(), Timeline: c.timeline(),
	}
	named := int64(0)
	for _, h := range d.Held {
		if h.Category != Older && h.Category != Other {
			named += h.Bytes
		}
	}
	if d.HeldAt.Live > 0 {
		d.Named = float64(named) / float64(d.HeldAt.Live)
	}
	for _, o := range r.ooms {
		d.OOMs = append(d.OOMs, OOM{o.moment.event, o.asked, o.free, r.stacks.trail(o.stack, mostFrames)})
	}
	d.Settings = r.otherSettings()
	return d
}

func seconds(microseconds int64) float64 { return float64(microseconds) / 1e6 }

func (r *replay) moment(m moment) Moment {
	s := r.spanAt(m.event)
	out := Moment{Event: m.event, Seconds: seconds(m.time - r.begun), Live: m.live, Reserved: m.reserved, Unused: max(0, m.reserved-m.live)}
	if len(r.spans) > 0 && m.event >= 0 {
		out.Phase, out.Step = phaseNames[s.phase], s.step+1
	}
	return out
}

// key identifies what is summed at the peak.
type key struct {
	category Category
	stack    uint32
}

type sum struct {
	bytes int64
	count int
}

func (s *sum) add(bytes int64) { s.bytes, s.count = s.bytes+bytes, s.count+1 }

// survivors are allocations of one stack alive at the end, by step.
type survivors struct {
	steps, lastStep int
	bytes           int64
}

// count sums up lives.
type count struct {
	*replay
	judge  *judge
	moment moment // the moment explained
	peak   map[key]*sum
	lived  map[Category][]int64 // changes in live bytes, by sample
	left   map[key]*survivors
	waits  int64 // bytes of activations at the end
	parts  int   // intervals used as steps, if there are none
}

func newCount(r *replay) *count {
	c := &count{replay: r, moment: r.peak, judge: newJudge(r), peak: map[key]*sum{}, lived: map[Category][]int64{},
		left: map[key]*survivors{}}
	if n := len(r.ooms); n > 0 {
		c.moment = r.ooms[n-1].moment
	}
	if !c.backwards() {
		c.parts = 8
	}
	return c
}

// add counts one life.
func (c *count) add(l *life) {
	k := key{c.judge.category(l), l.stack}
	if l.born <= c.moment.event && l.died > c.moment.event {
		at(c.peak, k).add(l.size)
	}
	c.sample(k.category, l)
	switch {
	case l.died != never || l.born < 0:
	case k.category == Activation && c.parts > 0:
		c.waits += l.size
	default:
		c.survives(k, l)
	}
}

// backwards reports whether the recording has a backward pass.
func (c *count) backwards() bool {
	return slices.ContainsFunc(c.spans, func(s span) bool { return s.phase == inBackward })
}

// at returns the value of a key, creating it if missing.
func at[K comparable, V any](m map[K]*V, k K) *V {
	v := m[k]
	if v == nil {
		v = new(V)
		m[k] = v
	}
	return v
}

// sample adds a life to the samples it spans.
func (c *count) sample(k Category, l *life) {
	first := c.sampleFrom(l.born)
	end := c.sampleFrom(l.died)
	if first == end {
		return
	}
	d := c.lived[k]
	if d == nil {
		d = make([]int64, len(c.samples)+1)
		c.lived[k] = d
	}
	d[first] += l.size
	d[end] -= l.size
}

// sampleFrom returns the first sample at or after an event.
func (c *count) sampleFrom(event int) int {
	n, _ := slices.BinarySearchFunc(c.samples, event, func(m moment, e int) int { return cmp.Compare(m.event, e) })
	return n
}

// survives counts what a complete step left behind; the last is incomplete.
func (c *count) survives(k key, l *life) {
	step, last := c.spanAt(l.born).step, c.judge.last.step
	if c.parts > 0 {
		step, last = l.born*c.parts/max(1, c.events), c.parts-1
	}
	if step >= last {
		return
	}
	s := at(c.left, k)
	if s.steps == 0 || s.lastStep != step {
		s.steps, s.lastStep = s.steps+1, step
	}
	s.bytes += l.size
}

// peakByCategory returns the categories at the peak.
func (c *count) peakByCategory() (out []Held) {
	type place struct{ place, operator string }
	for _, name := range Categories() {
		h, places := Held{Category: name}, map[place]*sum{}
		for k, s := range c.peak {
			if k.category != name {
				continue
			}
			h.Bytes, h.Allocations = h.Bytes+s.bytes, h.Allocations+s.count
			p := at(places, place{c.stacks.place(k.stack), c.stacks.operator(k.stack)})
			p.bytes, p.count = p.bytes+s.bytes, p.count+s.count
		}
		if h.Allocations == 0 {
			continue
		}
		for p, s := range places {
			if p.place != "" || p.operator != "" {
				h.Places = append(h.Places, Place{p.place, p.operator, s.bytes, s.count})
			}
		}
		stable.Sort(h.Places, func(a, b Place) int {
			return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Place, b.Place), cmp.Compare(a.Operator, b.Operator))
		})
		h.Places = h.Places[:min(len(h.Places), mostPlaces)]
		out = append(out, h)
	}
	return out
}

// calls returns the stacks that held most at the peak.
func (c *count) calls() (out []StackHeld) {
	keys := slices.DeleteFunc(slices.Collect(maps.Keys(c.peak)), func(k key) bool { return k.stack == 0 })
	stable.Sort(keys, func(a, b key) int {
		return cmp.Or(cmp.Compare(c.peak[b].bytes, c.peak[a].bytes), cmp.Compare(a.stack, b.stack), cmp.Compare(a.category, b.category))
	})
	for _, k := range keys[:min(len(keys), mostStacks)] {
		s := c.peak[k]
		out = append(out, StackHeld{c.stacks.trail(k.stack, mostFrames), k.category, s.bytes, s.count})
	}
	return out
}

// grown returns the stacks with remains of at least three complete steps. If intervals stand for steps, what the first
// allocates for all others is not growth.
func (c *count) grown() (out []Growth) {
	const least = 3
	for k, s := range c.left {
		once := c.parts > 0 && (k.category == Parameters || k.category == Gradients || k.category == Optimizer)
		if s.steps >= least && k.stack != 0 && !once {
			out = append(out, Growth{c.stacks.place(k.stack), c.stacks.trail(k.stack, mostFrames), k.category, s.bytes / int64(s.steps),
				s.steps, s.bytes})
		}
	}
	stable.Sort(out, func(a, b Growth) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), slices.Compare(a.Frames, b.Frames))
	})
	return out[:min(len(out), mostGrowth)]
}

// timeline returns the samples by category.
func (c *count) timeline() (out []Timeline) {
	live := map[Category]int64{}
	for i, m := range c.samples {
		t := Timeline{Seconds: seconds(m.time - c.begun), Live: m.live, Reserved: m.reserved, Held: map[Category]int64{}}
		for k, d := range c.lived {
			if live[k] += d[i]; live[k] > 0 {
				t.Held[k] = live[k]
			}
		}
		out = append(out, t)
	}
	return out
}
