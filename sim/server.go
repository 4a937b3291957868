package sim

import (
	"errors"
	"math"
	"time"

	"github.com/memwall/memwall/workload"
)

// never is after all that happens.
const never = time.Duration(math.MaxInt64)

// server is a replica at work.
type server struct {
	*Replica
	index           int
	together        *lockstep // those that it steps with; nil alone
	several         bool      // there are others, and nobody is told of steps as they begin
	pool            pool
	store           *store
	slots           slots
	waiting         queue
	counted         time.Duration // up to when the series has who waits
	last            looked
	running         order
	partial         []int32 // prompts that are being computed, in order
	dec             decoders
	steps           [2]step
	cur             *step // that is being computed; nil when idle
	next            *step // composed ahead
	dry             bool  // nothing could be composed ahead: look again when the step is done
	why             Limit // what the first who waits waits for
	again           bool  // somebody was preempted or refused: look again though nothing was composed
	frail           bool  // and would begin with cached rows that may be gone before: a shorter beginning may find room
	until           time.Duration
	token           time.Duration // when those who decode had their last one
	fresh           int64         // that joined them since
	reserved, final int64         // rows reserved by those who run, and the tokens that they will have at their end
	bold            boldness
	draft           drafting
	deadlines       heap[deadline]
	coming          underway
	adapters        adapters
	stuck           bool  // nothing can be composed before something changes
	whole           batch // of static batching
	m               *meter
	done            func(s *server, at int32, now time.Duration, how Outcome)
}

func newServer(r *Replica, index int, m *meter) *server {
	s := &server{Replica: r, index: index, pool: newPool(r.Paging), running: newOrder(), m: m}
	s.dec = newDecoders(&r.Paging, r.Reserve != nil)
	s.draft = newDrafting(r.Speculation, index)
	return s
}

// arrive puts a request in the queue.
func (s *server) arrive(r *workload.Request, now time.Duration) int32 {
	s.m.queued(s, now)
	at := s.slots.add(r)
	s.slots.all[at].ready = now
	s.wait(at)
	s.expect(at)
	s.stuck = false
	return at
}

// wait puts a request in the queue: behind those who wait, where the server ranks them behind those of its priority.
func (s *server) wait(at int32) {
	s.waiting.push(at)
	if s.Ranked {
		s.waiting.rise(s.ranks)
	}
}

// ranks reports whether a request goes before another: by priority, then by when it came (policy "priority").
func (s *server) ranks(a, b int32) bool {
	x, y := &s.slots.all[a], &s.slots.all[b]
	switch {
	case x.Priority != y.Priority:
		return x.Priority < y.Priority
	case x.Arrival != y.Arrival:
		return x.Arrival < y.Arrival
	}
	return x.ID < y.ID
}

// at is when something happens next; until is the next time that something comes from outside.
func (s *server) at(now time.Duration) time.Duration {
	switch {
	case s.cur == nil && s.waiting.n > 0 && !s.stuck:
		return now
	case s.cur == nil:
		return s.own()
	case s.Ahead && s.next == nil && !s.dry:
		return s.cur.start + time.Duration(s.cur.n-1)*s.cur.each
	}
	return s.cur.end
}

// happen does what happens at that time.
func (s *server) happen(now, until time.Duration) {
	s.until = min(until, s.own())
	switch {
	case s.cur == nil:
		s.begin(s.compose(now, now), now)
		s.stuck = s.cur == nil && !s.again
	case s.Ahead && s.next == nil && !s.dry:
		s.noted()
		if s.next = s.compose(now, s.cur.end); s.next == nil {
			s.dry = true
		}
	default:
		s.finish(now)
	}
}

// own is when something comes to a server that was under way to it: a cache, or the end of a client's patience.
func (s *server) own() (at time.Duration) {
	at = never
	if len(s.coming.heap) > 0 {
		at = s.coming.heap[0].at
	}
	if len(s.deadlines) > 0 && s.slots.live > 0 {
		at = min(at, s.deadlines[0].at)
	}
	return at
}

// finish the step that is being computed, and go on with the one that was composed ahead.
func (s *server) finish(now time.Duration) {
	s.noted()
	s.complete(s.cur)
	s.cur, s.dry = nil, false
	if s.next != nil {
		s.begin(s.next, now)
		s.next = nil
		return
	}
	s.begin(s.compose(now, now), now)
}

func (s *server) begin(st *step, now time.Duration) {
	if st == nil {
		return
	}
	if now > never/4 || st.each > never/4/time.Duration(st.n) {
		s.m.fail(errors.New("more than a century"))
		return
	}
	st.start, st.end = now, now+time.Duration(st.n)*st.each
	if s.cur = st; !st.open {
		s.m.begun(s, st)
	}
}

// compose a step that begins at a time.
func (s *server) compose(now, start time.Duration) *step {
	st := &s.steps[0]
	if s.cur == st {
		st = &s.steps[1]
	}
	*st = step{firsts: st.firsts[:0], lasts: st.lasts[:0], n: 1}
	s.again = false
	s.m.queued(s, now)
	s.hangUps(now)
	s.receive(now)
	if !s.Policy.compose(s, st, now, start) {
		return nil
	}
	return st
}

// complete hands out the tokens of a step.
func (s *server) complete(st *step) {
	s.stuck = false
	for _, f := range st.firsts {
		if t := &s.slots.all[f.slot]; t.first == 0 && t.ID == f.id {
			t.first = st.end
		}
	}
	if len(st.lasts) > 0 {
		s.bold.full = false
	}
	for _, at := range st.lasts {
		t := &s.slots.all[at]
		if t.state != released {
			s.release(t, t.computed)
			s.quit(at)
		}
		s.done(s, at, st.end, Finished)
	}
}
