package sim

import (
	"slices"
	"time"

	"github.com/memwall/memwall/workload"
)

// Fleet is a set of replicas behind a router.
type Fleet struct {
	Replicas []Replica
	Router   Router
	// Prefills are prefill workers for the Replicas, which then only decode; empty if each replica does both. The router
	// chooses among each kind.
	Prefills []Replica
	// Store is shared by all prefilling replicas; nil if none.
	Store *Store
}

// Options of a run.
type Options struct {
	// Goal that requests should meet; zero bounds nothing.
	Goal Goal
	// Settle is the number of warm-up requests excluded from latencies and goal, at most a quarter of all: the first
	// requests find idle servers, or arrive all at once.
	Settle int64
	// NoGaps skips recording the gaps between tokens, of which there are as many as steps.
	NoGaps bool
	// Each is called when a request ends. Its argument is valid only during the call.
	Each func(*Done)
	// Step is called when a server begins a step. Its argument is valid only during the call.
	Step func(*Step)
	// Stop is polled every askedEach units of work; if it returns true, the run ends with the results so far.
	Stop func(requests int64, at time.Duration) bool
}

// Goal bounds a request's latency; both bounds must hold. Zero means unbounded.
type Goal struct{ First, PerToken time.Duration }

// fleet is a running fleet.
type fleet struct {
	*Fleet
	servers  []*server       // replicas, then their prefill workers
	soonest  []time.Duration // time of each one's next event; past means now
	leads    []time.Duration
	groups   map[int]*lockstep
	src      workload.Source
	arrivals heap[arrival]
	ahead    workload.Request // next request of the source
	open     bool             // whether there is one
	seq      int64
	opt      *Options
	m        *meter
	due      arrival // the arrival being delivered
	comes    bool    // replicas start and stop
	some     []*server
	acting   int  // the server of the current event
	ended    Done // the request that ended
}

// arrival is a request as a scheduler will see it.
type arrival struct {
	at     time.Duration
	seq    int64
	r      workload.Request
	open   bool          // from the source, not triggered by the end of another
	remote bool          // prefill is done elsewhere
	began  time.Duration // when prefill began
	ready  time.Duration
	by     int // servers before this one had handled their events of that time; 0 if it was due before
}

func (a arrival) before(b arrival) bool { return a.at < b.at || a.at == b.at && a.seq < b.seq }

// Run simulates a workload on a fleet. It is deterministic.
func Run(f *Fleet, src workload.Source, o Options) (*Result, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	x := &fleet{Fleet: f, src: src, opt: &o, m: newMeter(f, &o)}
	x.comes = slices.ContainsFunc(f.Replicas, func(r Replica) bool { return r.From > 0 || r.Until > 0 })
	x.serve(f.Replicas, x.done)
	x.serve(f.Prefills, x.computed)
	shared := newStore(f.Store, &f.Replicas[0].Paging)
	for _, s := range x.servers {
		s.store = shared
		s.several = len(x.servers) > 1 && o.Step == nil
	}
	x.soonest, x.leads = make([]time.Duration, len(x.servers)), make([]time.Duration, len(x.servers))
	for _, s := range x.servers {
		x.look(s)
	}
	if err := x.run(); err != nil {
		return nil, err
	}
	return x.m.result(), nil
}

// run processes events until none remain.
func (x *fleet) run() error {
	if err := x.pull(); err != nil {
		return err
	}
	for work := int64(0); ; {
		if work >= askedEach {
			if work = 0; x.opt.Stop != nil && x.opt.Stop(x.m.over_, x.m.now) {
				x.m.stopped = true
				return nil
			}
		}
		next, at := x.next()
		if len(x.arrivals) > 0 && x.arrivals[0].at <= at {
			if err := x.deliver(); err != nil {
				return err
			}
			work++
			continue
		}
		if at == never {
			_, _, err := x.src.Next() // the error that ended a source asked for a follow-up
			return err
		}
		x.m.now, x.acting = at, next
		s := x.servers[next]
		if s.together != nil {
			work += s.together.step(at)
		} else {
			s.happen(at, x.horizon(next))
			work += 1 + s.running.n
		}
		x.look(s)
		if x.m.fault != nil {
			return x.m.fault
		}
	}
}

// askedEach is the work between two calls of Stop: requests delivered or advanced by a step. It takes about a
// millisecond or less.
const askedEach = 1 << 12

// next returns the server with the next event; ties go to the first.
func (x *fleet) next() (which int, at time.Duration) {
	at = never
	for i, t := range x.soonest {
		if t = max(t, x.m.now); t < at {
			which, at = i, t
		}
	}
	return which, at
}

// horizon returns the time of the next possible external event of a server: the next arrival, or a consequence of
// another's step.
func (x *fleet) horizon(which int) time.Duration {
	until := never
	s := x.servers[which]
	if s.cur != nil && len(s.cur.lasts) > 0 {
		until = s.cur.end
	}
	if s.store != nil {
		until = min(until, s.soonest(0)) // others see what it caches
	}
	if len(x.arrivals) > 0 {
		until = min(until, x.arrivals[0].at)
	}
	for i, t := range x.leads {
		if i != which {
			until = min(until, t)
		}
	}
	return max(until, x.m.now)
}

// look updates a changed server's next event, and the next time it may affect others. Of a group only the first is
// asked.
func (x *fleet) look(s *server) {
	if g := s.together; g != nil {
		for _, s := range g.servers {
			x.soonest[s.index], x.leads[s.index] = never, leads(s)
		}
		s = g.servers[0]
	}
	x.soonest[s.index], x.leads[s.index] = s.soonest(0), leads(s)
}

// leads returns the next time that a server may affect others.
func leads(s *server) time.Duration {
	if s.cur == nil || len(s.deadlines) > 0 {
		return s.at(0)
	}
	return s.cur.end
}

// serve starts servers.
func (x *fleet) serve(of []Replica, done func(*server, int32, time.Duration, Outcome)) {
	for i := range of {
		s := newServer(&of[i], len(x.servers), x.m)
		s.done = done
		x.servers = append(x.servers, s)
		if n := of[i].Group; n != 0 {
			if x.groups == nil {
				x.groups = map[int]*lockstep{}
			}
			if x.groups[n] == nil {
				x.groups[n] = &lockstep{}
			}
			x.groups[n].servers = append(x.groups[n].servers, s)
			s.together = x.groups[n]
		}
	}
}

// deliver passes the next arrival to the server chosen by the router.
func (x *fleet) deliver() error {
	x.due = x.arrivals.pop()
	a := &x.due
	x.acting = 0
	x.m.now = max(x.m.now, a.at)
	some := x.servers[:len(x.Replicas)]
	if len(x.Prefills) > 0 && !a.remote {
		some = x.servers[len(x.Replicas):]
	}
	if x.comes {
		if some = x.serving(some, a.at); len(some) == 0 {
			return x.later()
		}
	}
	s := some[x.Router.choose(some, &a.r)]
	if a.open {
		x.m.Queue.arrived(int64(s.waiting.n), a.r.Arrival, a.at)
	}
	if s.serves(&a.r) && (len(x.Prefills) == 0 || x.servers[0].serves(&a.r)) {
		x.hand(s, a)
	} else {
		x.over(Done{Request: &a.r, Replica: s.index, Ready: a.at, End: a.at, Outcome: Refused}, a.at)
	}
	return x.pull()
}

// hand passes a request to a server; a prefill worker generates only the first token.
func (x *fleet) hand(s *server, a *arrival) {
	r := a.r
	if s.index >= len(x.Replicas) {
		r.Output = 1
	}
	came := a.at
	if s.index < a.by {
		came++ // after the server's own events of that time
	}
	s.interrupt(came)
	at := s.arrive(&r, a.at)
	t := &s.slots.all[at]
	if r.Output != a.r.Output {
		t.whole = a.r.Output
	}
	x.look(s)
	if a.remote {
		t.remote, t.ready, t.admitted = true, a.ready, a.began
	}
}

// computed passes a prefilled request on to a decoding server.
func (x *fleet) computed(s *server, at int32, now time.Duration, how Outcome) {
	t := &s.slots.all[at]
	if how != Finished || t.whole == 0 {
		x.done(s, at, now, how)
		return
	}
	a := arrival{at: now, r: t.Request, remote: true, began: t.admitted, ready: t.ready, by: x.acting}
	a.r.Output = t.whole
	x.seq++
	a.seq = x.seq
	x.arrivals.push(a)
	s.slots.remove(at)
}

// serves reports whether a request is short enough for the server, which engines check before queueing it.
func (s *server) serves(r *workload.Request) bool {
	if s.MaxLength > 0 && r.Prompt >= s.MaxLength || s.MaxWaiting > 0 && s.waiting.n >= s.MaxWaiting {
		return false
	}
	return s.blocksFor(r, r.Prompt+1, 0) <= s.Blocks
}

// pull reads the source until its next request is later than all pending arrivals.
func (x *fleet) pull() error {
	for !x.open || len(x.arrivals) == 0 || x.ahead.Arrival <= x.arrivals[0].at {
		if x.open {
			x.expect(x.ahead, true)
		}
		r, ok, err := x.src.Next()
		if err != nil {
			return err
		}
		last := x.ahead.Arrival
		if x.ahead, x.open = r, ok; !ok {
			return nil
		}
		if err := follows(&r, last); err != nil {
			return err
		}
		x.m.asked++
	}
	return nil
}

// expect schedules the arrival of a request after the front end's delay.
func (x *fleet) expect(r workload.Request, open bool) {
	s := &x.Replicas[0]
	if s.MaxLength > 0 && r.Prompt < s.MaxLength {
		r.Output = min(r.Output, s.MaxLength-r.Prompt)
	}
	at := r.Arrival
	if s.Front != nil {
		at += x.m.span(s.Front(r.Prompt), 0, "a front end that takes")
	}
	by := 0
	if !open && at == x.m.now {
		by = x.acting
	}
	x.seq++
	x.arrivals.push(arrival{at: at, seq: x.seq, r: r, open: open, by: by})
}

// done removes a request from a server.
func (x *fleet) done(s *server, at int32, now time.Duration, how Outcome) {
	t := &s.slots.all[at]
	x.over(Done{Request: &t.Request, Replica: s.index, Ready: t.ready, Admitted: t.admitted, First: t.first, End: now,
		Generated: t.made, Cached: t.hits * s.BlockTokens, Preempted: int(t.preempted), Outcome: how}, now)
	s.slots.remove(at)
}

// over reports the outcome of a request and asks the source for its follow-up.
func (x *fleet) over(ended Done, now time.Duration) {
	x.ended = ended
	d := &x.ended
	x.m.over(d)
	if x.opt.Each != nil {
		x.opt.Each(d)
	}
	for r, ok := x.src.After(d.Request, now); ok; r, ok = x.rest() {
		if err := follows(&r, now); err != nil {
			x.m.fail(err)
			return
		}
		x.m.asked++
		x.expect(r, false)
	}
}

// rest delivers further follow-ups of the same request.
func (x *fleet) rest() (workload.Request, bool) {
	if s, ok := x.src.(workload.Several); ok {
		return s.Rest()
	}
	return workload.Request{}, false
}
