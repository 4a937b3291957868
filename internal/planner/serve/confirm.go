package serve

import (
	"cmp"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/simulate"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/search"
)

const (
	// batch of contenders that are played before anybody asks whether more need to be: how many are
	// played at a time changes nothing.
	batch = 8
	// enoughFleets that hold, of as many kinds of hardware and engines as there are, end the search where the next could
	// only be worse.
	enoughFleets = 6
	// mostPlayed contenders, and those of one kind of hardware.
	mostPlayed, mostOfKind = 40, 8
	// varied fleets are tried with other settings.
	varied = 4
)

// playing are servers on their way to fleets.
type playing struct{ *servers }

// playServers finds fleets of the most promising servers.
func playServers(s *servers) (*playing, error) {
	p := &playing{s}
	find := p.confirm
	if s.goal.MostUsers {
		find = p.holdMost
	}
	if err := find(); err != nil {
		return nil, err
	}
	return p, nil
}

// confirm plays the most promising contenders at the load, best first, until no other promises more; then the best of
// them with other settings.
func (p *playing) confirm() error {
	p.sort()
	if err := p.playAll(api.PhasePlay, p.queue()); err != nil {
		return err
	}
	if err := p.eachKind(); err != nil {
		return err
	}
	if err := p.playAll(api.PhaseVary, p.variants()); err != nil {
		return err
	}
	return p.failure()
}

// playAll plays a queue until what comes next promises no better.
func (p *playing) playAll(phase string, queue []*contender) error {
	p.phase, p.ended, p.ending = phase, 0, len(queue)
	for from := 0; from < len(queue); from += batch {
		if from > 0 && p.done(queue[from]) {
			break
		}
		if err := p.settle(queue[from:min(from+batch, len(queue))]); err != nil {
			return err
		}
	}
	return nil
}

// failure is why contenders could not be played, where none was.
func (p *playing) failure() (err error) {
	for _, c := range p.all {
		if c.failed == nil && len(c.played) > 0 {
			return nil
		}
		err = cmp.Or(err, c.failed)
	}
	return err
}

// sort by what a contender promises.
func (p *playing) sort() {
	stable.Sort(p.all, func(a, b *contender) int { return a.objective.compare(&b.objective) })
}

// queue of contenders that may be played: those that promise to keep within the bounds, the first of each kind of hardware
// before more of one.
func (p *playing) queue() []*contender {
	of := map[string]int{}
	var first, more []*contender
	for _, c := range p.all {
		if !c.possible() {
			continue
		}
		if of[c.kind]++; of[c.kind] <= mostOfKind {
			first = append(first, c)
		} else {
			more = append(more, c)
		}
	}
	all := append(first, more...)
	return all[:min(len(all), mostPlayed)]
}

// done: enough fleets hold, and what comes next promises no better.
func (p *playing) done(next *contender) bool {
	held := p.feasible()
	return len(held) >= enoughFleets && next.objective.compare(&held[enoughFleets-1].fleet.objective) >= 0 || p.ctx.Err() != nil
}

// feasible are the contenders with a fleet, the best first.
func (p *playing) feasible() (out []*contender) {
	for _, c := range p.all {
		if c.fleet != nil {
			out = append(out, c)
		}
	}
	stable.Sort(out, func(a, b *contender) int { return a.fleet.objective.compare(&b.fleet.objective) })
	return out
}

const (
	// everyKind of hardware are all played, so that each has a fleet to compare.
	everyKind = 16
	// tries are how many times contenders of a kind are played until one holds, ofEach at a time.
	tries, ofEach = 3, 2
)

// eachKind plays contenders of each kind of hardware of which none holds yet.
func (p *playing) eachKind() error {
	for range tries {
		if p.ctx.Err() != nil {
			return nil
		}
		next := p.nextOfKinds()
		if len(next) == 0 {
			return nil
		}
		p.ending += len(next)
		if err := p.settle(next); err != nil {
			return err
		}
	}
	return nil
}

// nextOfKinds are the best contenders that were not played, of kinds of which none holds, or none that was measured: servers that do both,
// and pairs of
// workers, whose answers of few tokens wait for the cache of their prompt as no steady state shows.
func (p *playing) nextOfKinds() (next []*contender) {
	held, measured := map[string]bool{}, map[string]bool{}
	for _, c := range p.feasible() {
		held[c.kind] = true
		measured[c.kind] = measured[c.kind] || c.measured()
	}
	type sort struct {
		kind  string
		split bool
	}
	of := map[sort]int{}
	for _, c := range p.all {
		k := sort{c.kind, c.sim.Prompts != nil}
		wanted := !held[c.kind] || c.measured() && !measured[c.kind]
		if c.possible() && len(c.played) == 0 && wanted && of[k] < ofEach && (of[k] > 0 || len(of) < everyKind) {
			of[k]++
			next = append(next, c)
		}
	}
	return next
}

// possible: by its estimate the contender holds the load with the devices that there are.
func (c *contender) possible() bool { return c.replicas > 0 && (c.most == 0 || c.replicas <= c.most) }

// settle finds the fewest replicas of each contender that hold the load within the bounds.
func (p *playing) settle(all []*contender) error {
	for _, c := range all {
		p.boundReplicas(c)
	}
	err := p.inParallel(all, func(c *contender) error {
		if p.ctx.Err() == nil {
			c.found, c.failed = c.fewestOf(simulate.Variant{})
		}
		return nil
	})
	for _, c := range all {
		if c.found > 0 {
			c.fleet = &fleetPlan{replicas: c.found, objective: c.objectiveOf(c.found)}
		}
	}
	return err
}

// inParallel does something for several contenders, at the same time where the asker can.
func (p *playing) inParallel(all []*contender, do func(*contender) error) error {
	errs := make([]error, len(all))
	p.reportBest()
	p.env.Each(len(all), func(i int) {
		errs[i] = do(all[i])
		p.reportPlayed()
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// muchDearer is how many times the dollars of the best fleet another is followed up to.
const muchDearer = 10

// boundReplicas the replicas of a contender by those for which it costs not much more than the best fleet, where dollars are to be
// least.
func (p *playing) boundReplicas(c *contender) {
	held := p.feasible()
	if len(held) == 0 || p.minimize() != "cost" || held[0].fleet.unpriced {
		return
	}
	each := c.money(max(1, c.replicas)).PerHour.Mid / float64(max(1, c.replicas))
	if most := muchDearer * held[0].fleet.by[0]; each > 0 && float64(c.replicas)*each <= most {
		c.dear = int64(most / each)
	} else if each > 0 {
		c.dear = c.replicas
	}
}

// tooFar: fleets of so many times the estimate, and some, are given up.
const tooFar, andSome = 3, 3

// fewestOf replicas of a variant that hold; 0 where none near the estimate do.
func (c *contender) fewestOf(v simulate.Variant) (int64, error) {
	t := trials{c: c, v: v}
	last := c.last()
	first := min(c.replicas, last)
	n := first
	switch holds := t.holds(n); {
	case holds && c.task.original.Replicas == 0: // fewer may too
		n -= search.Largest(0, first-1, 0, func(fewer int64) bool { return t.holds(first-fewer) && !t.stopped })
		t.stopped = false // what was found holds
	case !holds && n < last:
		n += 1 + search.Largest(0, last-first, 0, func(more int64) bool { return !t.holds(first + more) })
	case !holds:
		n++
	}
	if t.err != nil || t.hopeless || t.stopped || n > last {
		return 0, t.err
	}
	return n, nil
}

// last is the most replicas that are tried.
func (c *contender) last() int64 {
	if n := int64(c.task.original.Replicas); n > 0 {
		return n
	}
	last := tooFar*c.replicas + andSome
	for _, most := range []int64{c.most, c.dear} {
		if most > 0 {
			last = min(last, most)
		}
	}
	return last
}

// trials are fleets of a contender that are played until one cannot be, or none can hold.
type trials struct {
	c        *contender
	v        simulate.Variant
	err      error
	hopeless bool // as many requests are too long for any number of replicas
	stopped  bool // what a stopped run shows is not of so many replicas
}

func (t *trials) holds(replicas int64) bool {
	if t.err != nil || t.hopeless || t.stopped {
		return true // which ends a search for more
	}
	r := t.c.play(replicas, t.v)
	if t.err, t.stopped = r.err, t.c.task.ctx.Err() != nil; t.err != nil || t.stopped {
		return true
	}
	t.hopeless = !r.meets && r.res.Refused*20 > r.res.Asked
	if !r.meets || !t.c.task.goal.Sure || t.v != (simulate.Variant{}) {
		return r.meets
	}
	slow := t.c.slowly(r, func(v simulate.Variant) *round { return t.c.play(replicas, v) })
	t.err = slow.err
	return slow.meets
}
