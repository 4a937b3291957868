package scale

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
)

// Part is what happened in a part of the load.
type Part struct {
	Rate    float64 // requests a second that arrived
	Wanted  float64 // replicas, on average
	Ready   float64
	Billed  float64 // that start, serve or drain
	Waiting float64 // in all replicas, on average
	Good    float64 // share of those who arrived that keep the goal; 1 where nobody did
}

// Class is what became of the requests of one priority.
type Class struct{ Arrived, Good, Shed float64 }

// Replay is what a policy came to.
type Replay struct {
	Arrived, Good   float64 // requests
	Shed            float64 // turned away
	Lost            float64 // cut off where a replica was killed
	Classes         []Class
	ReplicaSeconds  float64 // that are paid
	Peak            int     // replicas that were wanted at once
	Ups, Downs      int     // decisions that changed the number
	Evictions       int
	Parts           []Part
	First, PerToken Sample
	Changes         []Change
	Lives           []Life // of replicas
}

// Life is when a replica was given requests; Until 0 is to the end.
type Life struct{ From, Until float64 }

// Change is a decision that changed the number of replicas.
type Change struct {
	At       float64
	From, To int
}

// Kept is the share of requests that kept the goal.
func (r *Replay) Kept() float64 {
	if r.Arrived == 0 {
		return 1
	}
	return r.Good / r.Arrived
}

// step is how many seconds pass at a time: no decision of an autoscaler is finer.
const step = 1.0

// group are replicas that serve with as many requests in each.
type group struct {
	in float64
	n  int
}

// leaving are replicas that finish what they serve, until they are killed.
type leaving struct {
	group
	until float64
}

// held are requests that arrived when no replica served.
type held struct{ at, n float64 }

// player plays a day.
type player struct {
	*Fleet
	load     *Load
	policy   Policy
	out      *Replay
	now      float64
	wanted   int
	starting []float64 // when each serves, ascending
	ready    []group   // by how many are in each, ascending
	leaving  []leaving
	waiting  []held
	next     float64   // decision
	since    float64   // requests that arrived since the last one
	last     float64   // when that was
	queues   []float64 // who waits, by class
	parts    []float64
	alive    []int // lives that go on
	chance   *rand.PCG
	sight    Sight
	scraped  scraped
	tally    tally
}

// Play a load on a fleet that a policy moves. The same arguments give the same replay. Stop is asked now and then; nil goes on.
func Play(l *Load, f *Fleet, p Policy, stop func() bool) (*Replay, error) {
	if err := l.Check(); err != nil {
		return nil, err
	}
	if err := f.Check(); err != nil {
		return nil, err
	}
	classes := len(f.classes())
	x := &player{Fleet: f, load: l, policy: p, out: &Replay{Classes: make([]Class, classes)}, queues: make([]float64, classes),
		chance: rand.NewPCG(f.Seed, 1), tally: newTally(f.Curve)}
	x.wanted = min(max(f.Begin, f.Least), f.Most)
	if x.wanted > 0 {
		x.ready = []group{{n: x.wanted}}
	}
	x.out.Peak = x.wanted
	x.born(x.wanted)
	return x.out, x.play(stop)
}

// ErrStopped is of a replay that was stopped.
var ErrStopped = errors.New("stopped")

const askedEach = 4096 // steps

func (x *player) play(stop func() bool) error {
	end := x.load.Seconds()
	x.out.Parts = make([]Part, len(x.load.Rates))
	for i := 0; x.now < end; i++ {
		if i%askedEach == askedEach-1 && stop != nil && stop() {
			return ErrStopped
		}
		dt := min(step, end-x.now)
		x.begin()
		x.scrape()
		x.evict(dt)
		if err := x.decide(); err != nil {
			return err
		}
		x.reconcile()
		x.arrive(dt)
		x.leave(dt)
		x.note(dt)
		x.now += dt
	}
	x.finish()
	return nil
}

// begin serving, for replicas that started.
func (x *player) begin() {
	n := 0
	for n < len(x.starting) && x.starting[n] <= x.now {
		n++
	}
	if n > 0 {
		x.starting = x.starting[n:]
		x.ready = slices.Insert(x.ready, 0, group{n: n})
		x.born(n)
	}
}

// born are replicas that are given requests from now on.
func (x *player) born(n int) {
	for range n {
		x.alive = append(x.alive, len(x.out.Lives))
		x.out.Lives = append(x.out.Lives, Life{From: x.now})
	}
}

// gone are replicas that are given none any more, the newest first.
func (x *player) gone(n int) {
	for range n {
		last := len(x.alive) - 1
		x.out.Lives[x.alive[last]].Until = x.now
		x.alive = x.alive[:last]
	}
}

// evict a replica now and then: it is told, finishes what it can, and another starts.
func (x *player) evict(dt float64) {
	n := x.serving()
	if x.Evicted == 0 || n == 0 {
		return
	}
	if x.drawn() >= 1-math.Exp(-x.Evicted/3600*float64(n)*dt) {
		return
	}
	x.out.Evictions++
	at := int(x.drawn() * float64(n))
	for i := range x.ready {
		if at -= x.ready[i].n; at < 0 {
			x.release(i, 1, x.Notice)
			return
		}
	}
}

func (x *player) drawn() float64 { return float64(x.chance.Uint64()>>11) / (1 << 53) }

func (x *player) serving() (n int) {
	for _, g := range x.ready {
		n += g.n
	}
	return n
}

// decide asks the policy when it is due.
func (x *player) decide() error {
	if x.now < x.next {
		return nil
	}
	x.look()
	n, err := x.policy.Decide(&x.sight)
	if err != nil {
		return err
	}
	n = min(max(n, x.Least), x.Most)
	if n != x.wanted {
		x.out.Changes = append(x.out.Changes, Change{x.now, x.wanted, n})
		if n > x.wanted {
			x.out.Ups++
		} else {
			x.out.Downs++
		}
	}
	x.wanted, x.out.Peak = n, max(x.out.Peak, n)
	x.next = x.now + max(step, x.policy.Every())
	x.last, x.since = x.now, 0
	return nil
}

// look at what metrics tell.
func (x *player) look() {
	s := &x.sight
	*s = Sight{At: x.now, Replicas: x.wanted, Starting: len(x.starting), Ready: s.Ready[:0]}
	if x.Scrape > 0 {
		x.remember()
		return
	}
	s.Ready, s.Held = x.seen(s.Ready), x.queued()
	if s.Rate = x.load.at(x.now); x.now > x.last {
		s.Rate = x.since / (x.now - x.last)
	}
}

// seen are the replicas as their metrics are now.
func (x *player) seen(out []Seen) []Seen {
	for _, g := range x.ready {
		running := x.Curve.Running(g.in)
		for range g.n {
			out = append(out, Seen{running, g.in - running, x.Curve.KV(g.in)})
		}
	}
	return out
}

// queued are the requests that found no replica.
func (x *player) queued() (n float64) {
	for _, h := range x.waiting {
		n += h.n
	}
	return n
}

// reconcile starts replicas that lack, and lets go of those that are too many: those that do not serve yet first, as a ReplicaSet does.
func (x *player) reconcile() {
	more := x.wanted - x.serving() - len(x.starting)
	for ; more > 0; more-- {
		x.starting = append(x.starting, x.now+x.Start)
	}
	for ; more < 0 && len(x.starting) > 0; more++ {
		x.starting = x.starting[:len(x.starting)-1]
	}
	for more < 0 && len(x.ready) > 0 {
		n := min(-more, x.ready[0].n)
		x.release(0, n, x.Grace)
		more += n
	}
}

// release replicas of a group: they get no more requests.
func (x *player) release(i, n int, grace float64) {
	x.gone(n)
	g := &x.ready[i]
	x.leaving = append(x.leaving, leaving{group{g.in, n}, x.now + grace})
	if g.n -= n; g.n == 0 {
		x.ready = slices.Delete(x.ready, i, i+1)
	}
}

// leave lets requests end in replicas that get no more, and kills those whose time is over.
func (x *player) leave(dt float64) {
	kept := x.leaving[:0]
	for _, l := range x.leaving {
		l.in = x.Curve.after(l.in, 0, dt)
		switch {
		case l.in < almostNone:
		case l.until <= x.now+dt:
			lost := l.in * float64(l.n)
			x.out.Lost += lost
			x.out.Good -= lost * x.Curve.Good(l.in, 0)
		default:
			kept = append(kept, l)
		}
	}
	x.leaving = kept
}

// almostNone of a request is in a replica that is done.
const almostNone = 0.05
