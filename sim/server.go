package sim

import (
	"errors"
	"math"
	"time"

	"github.com/memwall/memwall/workload"
)

// never is later than any event.
const never = time.Duration(math.MaxInt64)

// server is the state of a replica.
type server struct {
	*Replica
	index           int
	together        *lockstep // its lockstep group; nil if alone
	several         bool      // there are other servers, and no observer of steps
	pool            pool
	store           *store
	slots           slots
	waiting         queue
	counted         time.Duration // up to when the series has who waits
	last            looked
	running         order
	partial         []int32 // partially computed prompts, in order
	dec             decoders
	steps           [2]step
	cur             *step // running; nil if idle
	next            *step // scheduled ahead
	dry             bool  // nothing could be scheduled ahead: retry when the step ends
	why             Limit // what the first waiting request waits for
	again           bool  // a request was preempted or refused: retry although nothing was scheduled
	frail           bool  // the first would start from cached rows that may be evicted: a shorter start may fit
	until           time.Duration
	token           time.Duration // time of the last token of the decoding sequences
	joined          joins         // those that have had no token since they joined
	reserved, final int64         // rows reserved by running requests, and their final tokens
	bold            boldness
	draft           drafting
	deadlines       heap[deadline]
	coming          underway
	adapters        adapters
	stuck           bool  // nothing can be scheduled until something changes
	whole           batch // for static batching
	m               *meter
	done            func(s *server, at int32, now time.Duration, how Outcome)
}

func newServer(r *Replica, index int, m *meter) *server {
	s := &server{Replica: r, index: index, pool: newPool(r.Paging), running: newOrder(), m: m}
	s.dec = newDecoders(&r.Paging, r.Reserve != nil)
	s.draft = newDrafting(r.Speculation, index)
	return s
}

// arrive queues a new request.
func (s *server) arrive(r *workload.Request, now time.Duration) int32 {
	s.m.queued(s, now)
	at := s.slots.add(r)
	s.slots.all[at].ready = now
	s.wait(at)
	s.expect(at)
	s.stuck = false
	return at
}

// wait queues a request: last, or if the server uses priorities, last of its priority.
func (s *server) wait(at int32) {
	s.waiting.push(at)
	if s.Ranked {
		s.waiting.rise(s.ranks)
	}
}

// ranks reports whether request a precedes b: by priority, then by arrival (policy "priority").
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

// at returns the time of the next event; until is that of the next external one.
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

// happen processes the events of that time.
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

// own returns the time of the server's next pending event: a cache transfer, or a client's deadline.
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

// finish completes the running step and continues with the one scheduled ahead.
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

// compose schedules a step that begins at start.
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
	s.until = min(s.until, s.own()) // a transfer that has just started ends a stretch of equal steps too
	if !s.Policy.compose(s, st, now, start) {
		return nil
	}
	return st
}

// complete delivers the tokens of a step.
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
