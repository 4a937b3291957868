package serve

import (
	"cmp"
	"slices"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/simulate"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/search"
)

const (
	// batch is the number of contenders simulated before checking whether more are needed; how many run in parallel does not change
	// the result.
	batch = 8
	// enoughFleets is the number of feasible fleets, over all kinds of hardware and engines, that ends the search if the next
	// contender could only be worse.
	enoughFleets = 6
	// mostPlayed and mostOfKind bound the contenders simulated, in all and per kind of hardware.
	mostPlayed, mostOfKind = 40, 8
	// varied is the number of fleets tried with other settings.
	varied = 4
)

// playing is the simulation of servers as fleets.
type playing struct{ *servers }

// playServers simulates fleets of the most promising servers.
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

// confirm simulates the most promising contenders at the load, best first, until no other promises more, then the best of them with
// other settings.
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

// playAll simulates a queue until what comes next promises no better.
func (p *playing) playAll(phase string, queue []*contender) error {
	p.phase, p.ended, p.ending = phase, 0, len(queue)
	for len(queue) > 0 {
		n := min(batch, len(queue))
		if err := p.settle(queue[:n]); err != nil {
			return err
		}
		queue = p.promising(queue[n:])
	}
	return nil
}

// failure returns why contenders could not be simulated, if none could.
func (p *playing) failure() (err error) {
	for _, c := range p.all {
		if c.failed == nil && len(c.played) > 0 {
			return nil
		}
		err = cmp.Or(err, c.failed)
	}
	return err
}

// sort orders the contenders by promise.
func (p *playing) sort() {
	stable.Sort(p.all, func(a, b *contender) int { return a.objective.compare(&b.objective) })
}

// queue returns the contenders that may be simulated: those expected to keep the bounds, the first of each kind of hardware before
// further ones.
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

// promising returns the contenders that may be better than the fleets that hold: all while too few hold. Of several kinds of
// hardware a further contender may be cheaper than the first of another kind.
func (p *playing) promising(queue []*contender) []*contender {
	held := p.feasible()
	switch {
	case p.ctx.Err() != nil:
		return nil
	case len(held) < enoughFleets:
		return queue
	}
	last := &held[enoughFleets-1].fleet.objective
	return slices.DeleteFunc(queue, func(c *contender) bool { return c.objective.compare(last) >= 0 })
}

// feasible returns the contenders with a fleet, best first.
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
	// everyKind is the number of kinds of hardware up to which each gets a fleet to compare.
	everyKind = 16
	// tries is how many times contenders of a kind are simulated until one holds, ofEach at a time.
	tries, ofEach = 3, 2
)

// eachKind simulates contenders of each kind of hardware that has no feasible fleet yet.
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

// nextOfKinds returns the best unsimulated contenders of kinds without a feasible or a measured fleet: combined servers, and
// prefill/decode pairs, whose short answers wait for the transfer of the prompt's cache, which the steady state does not show.
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

// possible reports whether, by its estimate, the contender holds the load with the available devices.
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

// inParallel applies do to several contenders, concurrently if the caller allows it.
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

// muchDearer is the multiple of the best fleet's cost up to which others are followed.
const muchDearer = 10

// boundReplicas bounds the replicas of a contender by a multiple of the best fleet's cost if the objective is cost.
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

// Fleets larger than tooFar times the estimate plus andSome are given up.
const tooFar, andSome = 3, 3

// fewestOf returns the fewest replicas of a variant that hold; 0 if none near the estimate do.
func (c *contender) fewestOf(v simulate.Variant) (int64, error) {
	t := trials{c: c, v: v}
	last := c.last()
	first := min(c.replicas, last)
	n := first
	switch holds := t.holds(n); {
	case holds && c.task.original.Replicas == 0: // fewer may hold too
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

// last returns the most replicas to try.
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

// trials simulates fleets of a contender until one fails to run, or none can hold.
type trials struct {
	c        *contender
	v        simulate.Variant
	err      error
	hopeless bool // too many requests are too long for any number of replicas
	stopped  bool // a stopped run does not represent this number of replicas
}

func (t *trials) holds(replicas int64) bool {
	if t.err != nil || t.hopeless || t.stopped {
		return true // ends the search for more
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
