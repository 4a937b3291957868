package sim

import (
	"slices"
	"time"

	"github.com/memwall/memwall/workload"
)

// Fleet are replicas behind a router.
type Fleet struct {
	Replicas []Replica
	Router   Router
	// Prefills compute prompts for the Replicas, which then only decode; none where each does both. The router chooses
	// among each kind.
	Prefills []Replica
	// Store is shared by all that compute prompts; nil of none.
	Store *Store
}

// Options of a run.
type Options struct {
	// Goal that requests should meet; zero bounds nothing.
	Goal Goal
	// Settle is how many requests go first without being counted in times and by the goal, a quarter of all at the most:
	// those that find servers empty, or come all at once.
	Settle int64
	// NoGaps leaves out the gaps between tokens, of which there are as many as steps.
	NoGaps bool
	// Each is called when a request ends. What it points to is valid until it returns.
	Each func(*Done)
	// Step is called when a server begins a step. What it points to is valid until it returns.
	Step func(*Step)
	// Stop is asked every askedEach units of work; a run that is stopped tells what it knows.
	Stop func(requests int64, at time.Duration) bool
}

// Goal for a request: both bounds must hold. Zero bounds nothing.
type Goal struct{ First, PerToken time.Duration }

// fleet at work.
type fleet struct {
	*Fleet
	servers  []*server       // the replicas, then those that compute prompts for them
	soonest  []time.Duration // when each does something next; what is past is due now
	leads    []time.Duration
	groups   map[int]*lockstep
	src      workload.Source
	arrivals heap[arrival]
	ahead    workload.Request // the next of the source
	open     bool             // there is one
	seq      int64
	opt      *Options
	m        *meter
	due      arrival // the one that is delivered
	comes    bool    // replicas come and go
	some     []*server
	acting   int  // the server at which something happens
	ended    Done // the request that is over
}

// arrival is when a scheduler sees a request.
type arrival struct {
	at     time.Duration
	seq    int64
	r      workload.Request
	open   bool          // it came by itself, not because another ended
	remote bool          // its prompt is computed
	began  time.Duration // when that began
	ready  time.Duration
	by     int // of servers, those before it had done what they do at that time; 0 where it was due before
}

func (a arrival) before(b arrival) bool { return a.at < b.at || a.at == b.at && a.seq < b.seq }

// Run plays a workload. The same arguments give the same result.
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

// run until nothing is left to do.
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
			_, _, err := x.src.Next() // what ended a source that was asked for what follows an end
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

// askedEach is how much work passes between two questions whether to stop: a request delivered, or one advanced by a step. It
// is a millisecond of a processor or less.
const askedEach = 1 << 12

// next server at which something happens, the first of several at a time.
func (x *fleet) next() (which int, at time.Duration) {
	at = never
	for i, t := range x.soonest {
		if t = max(t, x.m.now); t < at {
			which, at = i, t
		}
	}
	return which, at
}

// horizon is when something may come to a server from outside: the next arrival, or what the end of a step leads to.
func (x *fleet) horizon(which int) time.Duration {
	until := never
	s := x.servers[which]
	if s.cur != nil && len(s.cur.lasts) > 0 {
		until = s.cur.end
	}
	if s.store != nil {
		until = min(until, s.soonest(0)) // what it computes others find
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

// look at a server of which something changed: when it does something next, and when what it does may lead to something elsewhere. A
// group is asked once, by its first.
func (x *fleet) look(s *server) {
	if g := s.together; g != nil {
		for _, s := range g.servers {
			x.soonest[s.index], x.leads[s.index] = never, leads(s)
		}
		s = g.servers[0]
	}
	x.soonest[s.index], x.leads[s.index] = s.soonest(0), leads(s)
}

// leads is when something of a server may reach others.
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

// deliver the next arrival to the server that the router chooses.
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

// hand a request to a server: one that computes prompts generates no more than the first token.
func (x *fleet) hand(s *server, a *arrival) {
	r := a.r
	if s.index >= len(x.Replicas) {
		r.Output = 1
	}
	came := a.at
	if s.index < a.by {
		came++ // what the server does at that time was done
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

// computed takes a request whose prompt is there to a server that decodes.
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

// serves reports whether a request is not too long for the server, as engines check before they queue it.
func (s *server) serves(r *workload.Request) bool {
	if s.MaxLength > 0 && r.Prompt >= s.MaxLength || s.MaxWaiting > 0 && s.waiting.n >= s.MaxWaiting {
		return false
	}
	return s.blocksFor(r, r.Prompt+1, 0) <= s.Blocks
}

// pull the source until it is ahead of all that arrives.
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

// expect a request after what the front end takes.
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

// done takes a request out of a server.
func (x *fleet) done(s *server, at int32, now time.Duration, how Outcome) {
	t := &s.slots.all[at]
	x.over(Done{Request: &t.Request, Replica: s.index, Ready: t.ready, Admitted: t.admitted, First: t.first, End: now,
		Generated: t.made, Cached: t.hits * s.BlockTokens, Preempted: int(t.preempted), Outcome: how}, now)
	s.slots.remove(at)
}

// over tells what became of a request, and asks its user what comes next.
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

// rest are further requests that came with the last one.
func (x *fleet) rest() (workload.Request, bool) {
	if s, ok := x.src.(workload.Several); ok {
		return s.Rest()
	}
	return workload.Request{}, false
}
