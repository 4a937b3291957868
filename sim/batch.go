package sim

import (
	"math"
	"time"

	"github.com/memwall/memwall/speed"
)

// first is the pending first token of a request, whose client may hang up before it.
type first struct {
	slot int32
	id   int64
}

// step is a batch and the number of times it runs in a row.
type step struct {
	batch      speed.Batch
	n          int64
	each       time.Duration
	start, end time.Duration
	firsts     []first
	lasts      []int32
	tokens     int64 // generated per repetition
	blocks     int64 // allocated for them over its repetitions
	pairs      float64
	prompting  time.Duration // time added by its prompts
	open       bool          // repeats until the next event; not yet recorded
	bold       float64       // share of answers reserved before it
}

// timed computes the duration of a step.
func (s *server) timed(st *step) {
	b := st.batch
	if b.Prefill > 0 {
		l := float64(b.Prefill)
		b.Cached = max(0, int64((st.pairs-l*l/(2*float64(b.Prompts)))/l))
	}
	st.each = s.lasting(b)
	if b.Prefill > 0 {
		st.prompting = st.each
		if b.Decodes > 0 {
			st.prompting -= min(st.each, s.lasting(speed.Batch{Decodes: b.Decodes, Context: b.Context}))
		}
	}
	st.batch = b
}

func (s *server) lasting(b speed.Batch) time.Duration {
	return s.m.span(s.Timer(b), 1, "a step")
}

// contextStep is the rounding of contexts for the duration of a step, so that steps with nearly equal contexts take the
// same time.
const contextStep = 64

// going returns the decoding sequences as a batch at their mean context; in static batching, all at the longest.
func (s *server) going() (b speed.Batch) {
	if s.dec.n > 0 {
		b.Decodes, b.Context = max(s.dec.n, s.whole.n), s.mean()/contextStep*contextStep+contextStep/2
	}
	return b
}

// mean returns the mean context of the decoding sequences.
func (s *server) mean() int64 {
	if s.whole.n > 0 {
		return s.whole.longest + s.dec.tick - s.whole.born
	}
	return s.dec.sum / s.dec.n
}

// stretch returns how often a decode-only step repeats: until a sequence ends, contexts have grown enough to matter,
// the cache is full, or an external event arrives.
func (s *server) stretch(st *step, now, start time.Duration) int64 {
	if s.draft.on() || s.Group != 0 {
		return 1
	}
	d := &s.dec
	if s.cur != nil && len(s.cur.lasts) > 0 && s.waiting.n > 0 {
		return 1 // the running step frees space
	}
	n := contextStep - s.mean()%contextStep
	n = min(n, s.untilTick(&d.ends), s.untilFull())
	switch left := s.until - start; {
	case s.until <= now:
		n = 1
	case left > 0:
		n = min(n, s.before(s.until, start, st.each))
	case s.Ahead:
		n = 1
	}
	room := s.pool.free
	if s.frail {
		room = s.pool.plain()
	}
	n = max(1, d.most(n, room))
	if on := s.onward(st, start); on > n {
		st.open = true
		return on
	}
	return n
}

// onward returns how often a step could repeat without external events: until something other than further tokens of
// the same sequences happens, in space that can be given back, so that the repetitions can be undone. With several
// servers most arrivals go to another.
func (s *server) onward(st *step, start time.Duration) int64 {
	if !s.several {
		return 0
	}
	n := min(contextStep-s.mean()%contextStep, s.untilTick(&s.dec.ends)-1+ahead(s.Ahead), s.untilFull()-1)
	if own := s.own(); own != never {
		n = min(n, s.before(own, start, st.each))
	}
	if n <= 1 {
		return 0
	}
	return s.dec.most(n, s.pool.plain())
}

// before returns the number of repetitions scheduled before an event.
func (r *Replica) before(at, start, each time.Duration) int64 {
	if at <= start {
		return 1
	}
	return int64((at-start-1)/each) + 1 + ahead(r.Ahead)
}

// interrupt undoes repetitions scheduled beyond an arrival.
func (s *server) interrupt(at time.Duration) {
	if st := s.next; st != nil && st.open {
		s.cut(st, s.before(at, s.cur.end, st.each))
		st.open = false
	}
	if st := s.cur; st != nil && st.open {
		s.cut(st, s.before(at, st.start, st.each))
		st.end = st.start + time.Duration(st.n)*st.each
		s.noted()
	}
}

// cut reduces a step to n repetitions.
func (s *server) cut(st *step, n int64) {
	if n >= st.n {
		return
	}
	s.dec.pass(n - st.n)
	back := s.dec.needs(st.n - n)
	s.pool.untake(back)
	st.blocks -= back
	if st.n = n; st.bold > 0 {
		s.bold.after(st)
	}
}

// noted closes the running step, which can no longer change.
func (s *server) noted() {
	if st := s.cur; st != nil && st.open {
		st.open = false
		s.m.begun(s, st)
	}
}

func ahead(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// untilTick returns the ticks until the first end; a step scheduled across that end stands alone.
func (s *server) untilTick(h *heap[due]) int64 {
	for len(*h) > 0 {
		if top := (*h)[0]; s.slots.all[top.slot].gen == top.gen {
			return max(1, top.tick-s.dec.tick+1-ahead(s.Ahead))
		}
		h.pop()
	}
	return math.MaxInt64
}

// untilFull returns the ticks until a window is full.
func (s *server) untilFull() int64 {
	h := &s.dec.fills
	for len(*h) > 0 {
		if top := (*h)[0]; s.slots.all[top.slot].gen == top.gen {
			return max(1, top.tick-s.dec.tick)
		}
		h.pop()
	}
	return math.MaxInt64
}

// decode schedules n ticks of the decoding sequences.
func (s *server) decode(st *step, n int64) {
	d := &s.dec
	if d.n == 0 {
		return
	}
	if s.draft.on() {
		s.verify(st)
		return
	}
	st.blocks = d.needs(n)
	s.pool.take(st.blocks)
	d.pass(n)
	st.n, st.tokens = n, d.n
	for len(d.fills) > 0 && d.fills[0].tick <= d.tick {
		s.windowFull(d.fills.pop())
	}
	for len(d.ends) > 0 && d.ends[0].tick < d.tick {
		s.ended(st, d.ends.pop())
	}
}

// ended removes a sequence that generates its last token in the step.
func (s *server) ended(st *step, e due) {
	t := &s.slots.all[e.slot]
	if t.gen != e.gen {
		return
	}
	s.leave(t)
	t.state = ending
	st.lasts = append(st.lasts, e.slot)
}

// windowFull records that a sequence from now on frees a window row for each one it allocates.
func (s *server) windowFull(e due) {
	t := &s.slots.all[e.slot]
	if t.gen != e.gen {
		return
	}
	s.dec.windowed.add(t.joined, t.computed, -1)
}

// needs returns the blocks needed for the next tokens of the decoding sequences.
func (s *server) needs() int64 {
	if s.draft.on() {
		return s.drafted()
	}
	return s.dec.needs(1)
}
