package scale

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
)

// Part is the outcome of a part of the load.
type Part struct {
	Rate    float64 // arrivals per second
	Wanted  float64 // mean number of replicas wanted
	Ready   float64
	Billed  float64 // mean number starting, serving or draining
	Waiting float64 // mean number in all replicas
	Good    float64 // share of arrivals that met the goal; 1 if there were none
}

// Class is the outcome of the requests of one priority.
type Class struct{ Arrived, Good, Shed float64 }

// Replay is the outcome of a policy.
type Replay struct {
	Arrived, Good   float64 // requests
	Shed            float64 // rejected
	Lost            float64 // aborted when a replica was killed
	Classes         []Class
	ReplicaSeconds  float64 // billed
	Peak            int     // maximum number of replicas wanted
	Ups, Downs      int     // decisions that changed the number
	Evictions       int
	Parts           []Part
	First, PerToken Sample
	Changes         []Change
	Lives           []Life // of replicas
}

// Life is the time during which a replica receives requests. Until 0 means to the end.
type Life struct{ From, Until float64 }

// Change is a decision that changed the number of replicas.
type Change struct {
	At       float64
	From, To int
}

// Kept returns the share of requests that met the goal.
func (r *Replay) Kept() float64 {
	if r.Arrived == 0 {
		return 1
	}
	return r.Good / r.Arrived
}

// step is the time step in seconds; no autoscaler decides more often.
const step = 1.0

// group is a set of serving replicas with equally many requests each.
type group struct {
	in float64
	n  int
}

// leaving is a set of draining replicas, until they are killed.
type leaving struct {
	group
	until float64
}

// held is a number of requests that arrived while no replica served.
type held struct{ at, n float64 }

// player runs a replay.
type player struct {
	*Fleet
	load     *Load
	policy   Policy
	out      *Replay
	now      float64
	wanted   int
	starting []float64 // ascending times at which they will serve
	ready    []group   // sorted by the number of requests in each
	leaving  []leaving
	waiting  []held
	next     float64   // time of the next decision
	since    float64   // arrivals since the last decision
	last     float64   // time of the last decision
	queues   []float64 // waiting requests by class
	parts    []float64
	alive    []int // indexes of unfinished lives
	chance   *rand.PCG
	sight    Sight
	scraped  scraped
	tally    tally
}

// Play simulates a load on a fleet controlled by a policy. It is deterministic. stop, if not nil, is polled, and ends
// the replay with ErrStopped when it returns true.
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

// ErrStopped is returned by a replay that was stopped.
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

// begin puts started replicas into service.
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

// born records that n replicas start to receive requests.
func (x *player) born(n int) {
	for range n {
		x.alive = append(x.alive, len(x.out.Lives))
		x.out.Lives = append(x.out.Lives, Life{From: x.now})
	}
}

// gone records that n replicas, the newest, stop receiving requests.
func (x *player) gone(n int) {
	for range n {
		last := len(x.alive) - 1
		x.out.Lives[x.alive[last]].Until = x.now
		x.alive = x.alive[:last]
	}
}

// evict reclaims a replica from time to time: it drains during the notice while a replacement starts.
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

// decide consults the policy when due.
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

// look updates what the policy sees.
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

// seen returns the current metrics of the replicas.
func (x *player) seen(out []Seen) []Seen {
	for _, g := range x.ready {
		running := x.Curve.Running(g.in)
		for range g.n {
			out = append(out, Seen{running, g.in - running, x.Curve.KV(g.in)})
		}
	}
	return out
}

// queued returns the number of requests waiting for any replica to serve.
func (x *player) queued() (n float64) {
	for _, h := range x.waiting {
		n += h.n
	}
	return n
}

// reconcile starts missing replicas and removes surplus ones, not yet serving ones first, like a ReplicaSet.
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

// release drains a replica of a group: it receives no more requests.
func (x *player) release(i, n int, grace float64) {
	x.gone(n)
	g := &x.ready[i]
	x.leaving = append(x.leaving, leaving{group{g.in, n}, x.now + grace})
	if g.n -= n; g.n == 0 {
		x.ready = slices.Delete(x.ready, i, i+1)
	}
}

// leave completes requests in draining replicas, and kills those whose grace period has ended.
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

// almostNone is the number of requests below which a draining replica is done.
const almostNone = 0.05
