package serve

import (
	"cmp"
	"math"
	"slices"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/planner"
	"github.com/memwall/memwall/internal/simulate"
	"github.com/memwall/memwall/internal/stable"
)

// reported is the number of fleets with bands; the first curved of them, one per kind of hardware, have curves.
const reported, curved = 12, 3

// fleets are those reported in an answer, best first.
type fleets struct {
	held    []*contender
	guarded bool       // unmeasured fleets are ranked by their slow edge
	miss    *contender // the nearest, if none holds and time allowed
}

// ranked returns the reported fleets in order, or the nearest if there are none.
func (p *playing) ranked() (f fleets, err error) {
	finish := p.finished
	if p.goal.MostUsers {
		finish = p.filledOverBand
	}
	f.held, f.guarded, err = finish(distinctFleets(p.feasible()))
	if err == nil && len(f.held) == 0 && p.ctx.Err() == nil {
		f.miss, err = p.closest()
	}
	return f, err
}

// finished adds to the reported fleets what only these need: both edges of the band, the fleet that certainly holds, and curves.
func (p *playing) finished(held []*contender) (shown []*contender, guarded bool, err error) {
	shown = p.varied(held, 2*reported)
	p.phase, p.ended, p.ending = api.PhaseDetail, 0, len(shown)+curved
	if err := p.inParallel(shown[:min(len(shown), 2*reported)], (*contender).edge); err != nil {
		return nil, false, err
	}
	if guarded, err = p.guard(shown); err != nil {
		return nil, false, err
	}
	stable.Sort(shown, func(a, b *contender) int {
		return cmp.Or(a.fleet.compareCertainty(b.fleet), slices.Compare(meritsOf(a), meritsOf(b)))
	})
	shown = p.varied(shown, reported)
	first := firstOfKinds(shown, curved)
	return shown, guarded, p.inParallel(first, func(c *contender) error {
		if err := c.replicasAtSlowEdge(); err != nil {
			return err
		}
		if err := c.curve(); err != nil || c != first[0] {
			return err
		}
		return c.mostLoad()
	})
}

// varied returns the fleets to report, best first: all if all are requested, else limited per kind of hardware so that others have
// room.
func (p *playing) varied(held []*contender, most int) (out []*contender) {
	of := map[string]int{}
	for _, c := range held {
		of[c.kind] = 0
	}
	each := most
	if len(of) > 1 {
		each = max(2, most*3/4/len(of))
	}
	for _, c := range held {
		if of[c.kind]++; p.original.All || of[c.kind] <= each && len(out) < most {
			out = append(out, c)
		}
	}
	return out
}

// filledOverBand returns fleets with the users that they hold at the slow edge of the band, by which unmeasured ones are ranked.
func (p *playing) filledOverBand(held []*contender) (shown []*contender, guarded bool, err error) {
	held = p.varied(held, reported)
	guarded = slices.ContainsFunc(held, (*contender).measured)
	p.phase, p.ended, p.ending = api.PhaseDetail, 0, len(held)
	err = p.inParallel(held, func(c *contender) error {
		r := c.play(c.replicas, simulate.Variant{})
		fast, slow, ok := r.sim.Extremes(r.res)
		if !ok || p.ctx.Err() != nil {
			return r.err
		}
		low, err := c.mostWithin(*c.fleet.most.Users, slow)
		if err != nil {
			return err
		}
		high, err := c.mostWithin(*c.fleet.most.Users, fast)
		if err == nil && p.ctx.Err() == nil { // else stopped
			low, high = min(low, *c.fleet.most.Users), max(high, *c.fleet.most.Users)
			c.fleet.mostLow, c.fleet.mostHigh = &low, &high
		}
		c.crowd(*c.fleet.most.Users)
		c.played[c.replicas] = r
		if guarded && !c.measured() {
			c.fleet.by = c.byUsers(low)
		}
		return err
	})
	stable.Sort(held, func(a, b *contender) int { return a.fleet.objective.compare(&b.fleet.objective) })
	return held, guarded, err
}

// guard ranks the fleets by cautious figures once the slow edges have been simulated. If none is measured, all are equally
// uncertain, and the middle of the band counts.
func (p *playing) guard(all []*contender) (guarded bool, err error) {
	if !slices.ContainsFunc(all, (*contender).measured) {
		return false, nil
	}
	var unmeasured []*contender
	for _, c := range all {
		if !c.measured() {
			unmeasured = append(unmeasured, c)
		}
	}
	if err := p.inParallel(unmeasured, (*contender).replicasAtSlowEdge); err != nil {
		return true, err
	}
	for _, c := range unmeasured {
		dollars, devices, life := cautious(c)
		unpriced := c.fleet.unpriced
		c.fleet.objective = c.weigh(dollars, devices, life)
		c.fleet.unpriced = unpriced
	}
	return true, nil
}

// cautious returns the cost, devices and answer time that a fleet is ranked by: its own if its kind was measured, else those at its
// slow edge.
func cautious(c *contender) (dollars, devices, life float64) {
	n := c.fleet.replicas
	dollars, devices, life = c.dollars(n), float64(n*c.devices), c.requestSeconds(n)
	if c.measured() {
		return dollars, devices, life
	}
	if c.fleet.atSlowEdge == 0 || c.fleet.edges.high == nil {
		return math.Inf(1), math.Inf(1), math.Inf(1)
	}
	more := float64(c.fleet.atSlowEdge) / float64(n)
	slow := simulate.FourDigits(1000*c.fleet.edges.high.res.Whole.Mean().Seconds()) / 1000
	return max(1, more) * dollars, max(1, more) * devices, max(life, slow)
}

// compareCertainty orders otherwise equal fleets: those that also hold at the slow edge come first.
func (f *fleetPlan) compareCertainty(o *fleetPlan) int {
	sure := func(f *fleetPlan) int {
		if f.edges.high != nil && f.edges.high.meets {
			return 0
		}
		return 1
	}
	a, b := objective{impossible: f.impossible, unpriced: f.unpriced, by: [4]float64{f.by[0], f.by[1]}},
		objective{impossible: o.impossible, unpriced: o.unpriced, by: [4]float64{o.by[0], o.by[1]}}
	return cmp.Or(a.compare(&b), sure(f)-sure(o), f.objective.compare(&o.objective))
}

// meritsOf returns a fleet's merits: dollars per hour (averaged over the day if it follows one), devices, mean answer time, p99
// TTFT and TPOT, quality loss, whether it holds at the slow edge, whether its kind was measured, and its rank if not. Figures are
// those of the answer; unknown ones are worst.
func meritsOf(c *contender) planner.Merits {
	dollars, devices, life := cautious(c)
	unmeasured := 1.0
	if c.measured() {
		unmeasured = 0
	}
	m := planner.Merits{c.dollars(c.fleet.replicas), float64(c.fleet.replicas * c.devices), math.Inf(1), math.Inf(1), math.Inf(1),
		c.loss, 1, unmeasured, dollars, devices, life}
	if r := c.result(); r != nil {
		for i, p := range []*api.Percentiles{simulate.Percentiles(&r.Whole), simulate.Percentiles(&r.First),
			simulate.Percentiles(&r.PerToken)} {
			switch {
			case p != nil && i == 0:
				m[2] = p.Mean
			case p != nil:
				m[2+i] = p.P99
			}
		}
	}
	if c.meets() == "yes" {
		m[6] = 0
	}
	if c.task.goal.MostUsers {
		m[6] = -float64(*c.fleet.most.Users)
	}
	return m
}

// distinctFleets drops fleets whose behavior equals an earlier one's to the nanosecond: their settings change nothing.
func distinctFleets(held []*contender) (out []*contender) {
	for _, c := range held {
		if !slices.ContainsFunc(out, func(o *contender) bool { return same(o, c) }) {
			out = append(out, c)
		}
	}
	return out
}

func same(c, o *contender) bool {
	a, b := c.result(), o.result()
	if a == nil || b == nil || c.name != o.name || c.fleet.replicas != o.fleet.replicas ||
		c.sim.Question.Engine.Name() != o.sim.Question.Engine.Name() {
		return false
	}
	return a.End == b.End && a.First.Mean() == b.First.Mean() && a.PerToken.Mean() == b.PerToken.Mean() && a.Whole.Mean() == b.Whole.Mean()
}

// firstOfKinds returns the first contender of each kind of hardware, at most the given number.
func firstOfKinds(all []*contender, most int) (out []*contender) {
	for _, c := range all {
		if len(out) < most && !slices.ContainsFunc(out, func(o *contender) bool { return o.kind == c.kind }) {
			out = append(out, c)
		}
	}
	return out
}
