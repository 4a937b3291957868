package memwall

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/sim"
	"github.com/memwall/memwall/unit"
)

// round is a load that a fleet of so many replicas was played at.
type round struct {
	sim   *simulation
	res   *sim.Result
	as    variant
	meets bool
	err   error
}

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

// confirm plays the most promising contenders at the load, best first, until no other promises more; then the best of
// them with other settings.
func (g *goalSearch) confirm() error {
	g.sort()
	if err := g.playAll(g.queue()); err != nil {
		return err
	}
	if err := g.eachKind(); err != nil {
		return err
	}
	if err := g.playAll(g.variants()); err != nil {
		return err
	}
	return g.failure()
}

// playAll plays a queue until what comes next promises no better.
func (g *goalSearch) playAll(queue []*contender) error {
	for from := 0; from < len(queue); from += batch {
		if from > 0 && g.done(queue[from]) {
			break
		}
		if err := g.settle(queue[from:min(from+batch, len(queue))]); err != nil {
			return err
		}
	}
	return nil
}

// failure is why contenders could not be played, where none was.
func (g *goalSearch) failure() (err error) {
	for _, c := range g.contenders {
		if c.failed == nil && len(c.played) > 0 {
			return nil
		}
		err = cmp.Or(err, c.failed)
	}
	return err
}

// sort by what a contender promises.
func (g *goalSearch) sort() {
	slices.SortStableFunc(g.contenders, func(a, b *contender) int { return a.objective.compare(&b.objective) })
}

// variants of the best fleets, else of the best contenders: with other budgets of a step and numbers of sequences.
func (g *goalSearch) variants() (out []*contender) {
	of := g.held()
	if len(of) == 0 {
		of = g.queue()
	}
	had := len(g.contenders)
	for _, c := range of[:min(varied, len(of))] {
		for _, vary := range g.variations(c) {
			r := c.request
			r.Ask, r.Workload, r.Goal, r.Router = "fit", nil, nil, ""
			vary(&r)
			g.contend(&c.machineChoice, &r, c.loss)
		}
	}
	for _, c := range g.contenders[had:] {
		if c.possible() {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b *contender) int { return a.objective.compare(&b.objective) })
	return out
}

// stepTokens are budgets of a step that trade the first token against the others, moreSlots what a llama-server that is
// not short of memory has.
var (
	stepTokens = []plan.Int{512, 2048}
	moreSlots  = []plan.Int{16, 64}
)

// variations of a server that need no more devices.
func (g *goalSearch) variations(c *contender) (out []func(*Request)) {
	now := &c.sim.q.request
	if c.sim.stream != nil {
		for _, n := range moreSlots {
			if g.asked.Sequences == 0 && int64(n) > int64(now.Sequences) {
				out = append(out, func(r *Request) { r.Sequences = n })
				if c := g.tightContext(); c > 0 {
					out = append(out, func(r *Request) { r.Sequences, r.Context = n, c })
				}
			}
		}
		return out
	}
	for _, n := range stepTokens {
		if g.asked.MaxBatchedTokens == 0 && n < now.MaxBatchedTokens {
			out = append(out, func(r *Request) { r.MaxBatchedTokens = n })
		}
	}
	if n := plan.Int(unit.PadUp(c.users, 8)); g.asked.MaxSeqs == 0 && g.rate > 0 && n < now.MaxSeqs {
		out = append(out, func(r *Request) { r.MaxSeqs = n })
	}
	return out
}

// tightContext is one that just holds the longest request, where that is less than the usual one: slots of llama-server have
// room for all of it from the start. 0 where there is none.
func (g *goalSearch) tightContext() plan.Int {
	if n := unit.PadUp(g.longest, 1024); g.asked.Context == 0 && g.longest > 0 && n < defaultContext {
		return plan.Int(n)
	}
	return 0
}

// queue of contenders that may be played: those that promise to keep within the bounds, the first of each kind of hardware
// before more of one.
func (g *goalSearch) queue() []*contender {
	of := map[string]int{}
	var first, more []*contender
	for _, c := range g.contenders {
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
func (g *goalSearch) done(next *contender) bool {
	held := g.held()
	return len(held) >= enoughFleets && next.objective.compare(&held[enoughFleets-1].fleet.objective) >= 0 || g.ctx.Err() != nil
}

// held are the contenders with a fleet, the best first.
func (g *goalSearch) held() (out []*contender) {
	for _, c := range g.contenders {
		if c.fleet != nil {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b *contender) int { return a.fleet.objective.compare(&b.fleet.objective) })
	return out
}

const (
	// everyKind of hardware are all played, so that each has a fleet to compare.
	everyKind = 16
	// tries are how many times contenders of a kind are played until one holds, ofEach at a time.
	tries, ofEach = 3, 2
)

// eachKind plays contenders of each kind of hardware of which none holds yet.
func (g *goalSearch) eachKind() error {
	for range tries {
		next := g.nextOfKinds()
		if len(next) == 0 {
			return nil
		}
		if err := g.settle(next); err != nil {
			return err
		}
	}
	return nil
}

// nextOfKinds are the best contenders that were not played, of kinds of which none holds: servers that do both, and pairs of
// workers, whose answers of few tokens wait for the cache of their prompt as no steady state shows.
func (g *goalSearch) nextOfKinds() (next []*contender) {
	held := map[string]bool{}
	for _, c := range g.held() {
		held[c.kind] = true
	}
	type sort struct {
		kind  string
		split bool
	}
	of := map[sort]int{}
	for _, c := range g.contenders {
		k := sort{c.kind, c.sim.prompts != nil}
		if c.possible() && len(c.played) == 0 && !held[c.kind] && of[k] < ofEach && (of[k] > 0 || len(of) < everyKind) {
			of[k]++
			next = append(next, c)
		}
	}
	return next
}

// possible: by its estimate the contender holds the load with the devices that there are.
func (c *contender) possible() bool { return c.replicas > 0 && (c.most == 0 || c.replicas <= c.most) }

// settle finds the fewest replicas of each contender that hold the load within the bounds.
func (g *goalSearch) settle(all []*contender) error {
	for _, c := range all {
		g.bound(c)
	}
	err := g.together(all, func(c *contender) error {
		c.found, c.failed = c.fewestOf(g, variant{})
		return nil
	})
	for _, c := range all {
		if c.found > 0 {
			c.fleet = &fleetPlan{replicas: c.found, objective: g.objective(c, c.found)}
		}
	}
	return err
}

// together does something for several contenders, at the same time where the asker can.
func (g *goalSearch) together(all []*contender, do func(*contender) error) error {
	errs := make([]error, len(all))
	g.asker.each(len(all), func(i int) { errs[i] = do(all[i]) })
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return g.ctx.Err()
}

// muchDearer is how many times the dollars of the best fleet another is followed up to.
const muchDearer = 10

// bound the replicas of a contender by those for which it costs not much more than the best fleet, where dollars are to be
// least.
func (g *goalSearch) bound(c *contender) {
	held := g.held()
	if len(held) == 0 || g.minimize() != "cost" || held[0].fleet.unpriced {
		return
	}
	each := g.money(c, max(1, c.replicas)).PerHour.Mid / float64(max(1, c.replicas))
	if most := muchDearer * held[0].fleet.by[0]; each > 0 && float64(c.replicas)*each <= most {
		c.dear = int64(most / each)
	} else if each > 0 {
		c.dear = c.replicas
	}
}

// tooFar: fleets of so many times the estimate, and some, are given up.
const tooFar, andSome = 3, 3

// fewestOf replicas of a variant that hold; 0 where none near the estimate do.
func (c *contender) fewestOf(g *goalSearch, v variant) (int64, error) {
	last := tooFar*c.replicas + andSome
	for _, most := range []int64{c.most, c.dear} {
		if most > 0 {
			last = min(last, most)
		}
	}
	if n := int64(g.original.Replicas); n > 0 {
		last = n
	}
	low, high := int64(0), int64(0) // holds not, holds
	for n, step := min(c.replicas, last), int64(1); high == 0; n, step = min(n+step, last), 2*step {
		r := c.play(g, n, v)
		switch {
		case r.err != nil:
			return 0, r.err
		case r.meets:
			high = n
		case n == last, r.res.Refused*20 > r.res.Asked: // as many are too long for any number
			return 0, nil
		default:
			low = n
		}
	}
	if g.original.Replicas > 0 {
		return high, nil
	}
	return c.between(g, low, high, v)
}

// between the most replicas that do not hold and some that do. Where the estimate held at once, fewer may too.
func (c *contender) between(g *goalSearch, low, high int64, v variant) (int64, error) {
	for high-low > 1 {
		mid := low + (high-low)/2
		if low == 0 {
			mid = high - 1 // the estimate is rarely far off
		}
		r := c.play(g, mid, v)
		if r.err != nil {
			return 0, r.err
		}
		if r.meets {
			high = mid
		} else {
			low = mid
		}
	}
	return high, nil
}

// play the load on so many replicas, for as long as they may meet the goal. Rounds of the plan itself are kept.
func (c *contender) play(g *goalSearch, replicas int64, v variant) *round {
	if r := c.played[replicas]; r != nil && v == (variant{}) {
		return r
	}
	r := c.on(g, replicas, v)
	g.giveUp(r.sim)
	r.run(g)
	if v == (variant{}) {
		c.played[replicas] = r
	}
	return r
}

// mostTogether are as many replicas as are played: of more, so many with their share of the load, since what one of a
// hundred has to spare helps no other much.
const mostTogether = 64

// on is a round that was not played yet.
func (c *contender) on(g *goalSearch, replicas int64, v variant) *round {
	s, q := *c.sim, *c.sim.q
	if share := float64(mostTogether) / float64(replicas); share < 1 && s.spec.Trace == "" {
		s.spec.Rate *= share
		s.spec.Concurrency = plan.Int(math.Ceil(share * float64(s.spec.Concurrency)))
		replicas = mostTogether
	}
	q.original.Replicas = plan.Int(replicas)
	s.q, s.unwatched, s.settling = &q, true, g.settles()
	return &round{sim: &s, as: v}
}

// run a round.
func (r *round) run(g *goalSearch) *round {
	if r.res, r.err = r.sim.run(r.as); r.err == nil {
		r.meets = g.meets(r.res)
	}
	return r
}

// whole is the round with all of its requests, where it was given up.
func (r *round) whole(g *goalSearch) *round {
	if r.err != nil || !r.res.Stopped {
		return r
	}
	s := *r.sim
	s.hopeless, s.each = nil, nil
	return (&round{sim: &s, as: r.as}).run(g)
}

// settles is how many requests pass before any counts; of a recording all count.
func (g *goalSearch) settles() int64 {
	if g.spec.Trace != "" || g.spec.Arrivals == "burst" || g.spec.Requests == 0 {
		return 0
	}
	return min(settling(&g.spec, g.original), int64(g.spec.Requests)/4)
}

// mostUnserved is the share of requests that may be refused, fail or give up where nobody says how many must keep within
// the bounds.
const mostUnserved = 0.01

// meets reports whether a run holds the load, every percentile lies within its bound, nearly all are served and enough
// requests keep within all bounds.
func (g *goalSearch) meets(r *sim.Result) bool {
	l := loadOf(r)
	if unserved := float64(r.Failed + r.Refused + r.HungUp); unserved > mostUnserved*float64(r.Asked) && g.goal.Attainment == 0 {
		return false
	}
	if r.Finished == 0 || r.Stopped || !l.Holds || !within(&r.First, g.goal.TTFT) || !within(&r.PerToken, g.goal.TPOT) {
		return false
	}
	return g.goal.Attainment == 0 || float64(r.Good) >= g.goal.Attainment*float64(max(1, r.First.N()+r.Failed+r.Refused+r.HungUp))
}

// giveUp ends a run as soon as more requests took longer than a bound than its percentile allows.
func (g *goalSearch) giveUp(s *simulation) {
	judged := float64(g.spec.Requests) - float64(s.settling)
	if g.spec.Trace != "" || judged <= 0 || g.spec.DurationS > 0 || !g.bounded() {
		return
	}
	var late []lateness
	for _, b := range []struct {
		by    map[string]float64
		token bool
	}{{g.goal.TTFT, false}, {g.goal.TPOT, true}} {
		for name, ms := range b.by {
			if q, err := percentile(name); err == nil {
				late = append(late, lateness{bound: ms, token: b.token, left: (1-q)*judged + 1})
			}
		}
	}
	over := false
	s.hopeless = func() bool { return over }
	s.each = func(d *sim.Done) {
		if d.Outcome != sim.Finished || d.ID < s.settling {
			return
		}
		for i := range late {
			over = late[i].sees(d) || over
		}
	}
}

// lateness counts down the requests that may still be late.
type lateness struct {
	bound float64 // milliseconds
	token bool
	left  float64
}

// sees a request; true when too many were late.
func (l *lateness) sees(d *sim.Done) bool {
	t := d.First - d.Arrival
	if l.token {
		if d.Generated < 2 {
			return l.left < 0
		}
		t = (d.End - d.First) / time.Duration(d.Generated-1)
	}
	if 1000*t.Seconds() > l.bound {
		l.left--
	}
	return l.left < 0
}
