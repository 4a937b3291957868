package serve

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/simulate"
	"github.com/memwall/memwall/plan"
)

// How many users hardware holds within bounds: the servers that promise most are filled with users until a bound breaks, all of the
// devices in use, and ranked by how many that are.

// mostFilled servers of one kind of hardware, and in all.
const mostFilledOfKind, mostFilled = 3, 16

// holdMost fills the most promising contenders with users.
func (g *goalSearch) holdMost() error {
	next := g.roomiest()
	g.phase, g.ended, g.ending = api.PhasePlay, 0, len(next)
	if err := g.inParallel(next, func(c *contender) error {
		if g.ctx.Err() == nil {
			c.failed = g.fill(c)
		}
		return nil
	}); err != nil {
		return err
	}
	return g.failure()
}

// roomiest contenders by their estimates, the first of each kind of hardware before more of one.
func (g *goalSearch) roomiest() (out []*contender) {
	slices.SortStableFunc(g.contenders, func(a, b *contender) int {
		return cmp.Or(-cmp.Compare(a.users*a.replicas, b.users*b.replicas), a.objective.compare(&b.objective))
	})
	of := map[string]int{}
	for _, c := range g.contenders {
		if of[c.kind]++; !c.impossible && c.possible() && of[c.kind] <= mostFilledOfKind && len(out) < mostFilled {
			out = append(out, c)
		}
	}
	return out
}

// fill finds the most users that all replicas of a contender hold together; without a fleet where they hold none.
func (g *goalSearch) fill(c *contender) error {
	n := c.replicas
	most, err := g.mostWithin(c, c.users*n, simulate.Variant{})
	if err != nil || most == 0 || g.ctx.Err() != nil {
		return err
	}
	g.crowd(c, most)
	r := c.play(g, n, simulate.Variant{})
	if r.err != nil {
		return r.err
	}
	requests, tokens := r.rates()
	c.fleet = &fleetPlan{replicas: n, objective: g.objective(c, n)}
	c.fleet.by = g.byUsers(c, most)
	c.fleet.most = &api.CurvePoint{Share: 1, Users: &most, Met: true, Rate: simulate.FourDigits(requests),
		Output: simulate.FourDigits(tokens), TTFT: simulate.Percentiles(&r.res.First), TPOT: simulate.Percentiles(&r.res.PerToken)}
	return nil
}

// mostWithin are the most users that a contender's replicas hold in a variant; where the slow edge must hold too, at it.
func (g *goalSearch) mostWithin(c *contender, guess int64, v simulate.Variant) (int64, error) {
	return simulate.MostUsers(g.original.Workload, guess, func(users int64) (bool, error) {
		g.crowd(c, users)
		r := c.play(g, c.replicas, v)
		if r.err != nil || !r.meets || !g.goal.Sure || v != (simulate.Variant{}) {
			return r.meets, r.err
		}
		slow := c.slowly(r, func(v simulate.Variant) *round { return c.play(g, c.replicas, v) })
		return slow.meets, slow.err
	})
}

// byUsers ranks a fleet that holds so many: by them, or by the dollars for each.
func (g *goalSearch) byUsers(c *contender, users int64) [4]float64 {
	dollars := g.dollars(c, c.replicas)
	if g.minimize() == "cost" && g.goal.Minimize != "" {
		return [4]float64{dollars / float64(max(1, users)), c.loss}
	}
	return [4]float64{-float64(users), dollars, c.loss}
}

// filledOverBand are fleets with the users that they hold at the slow edge of their band, by which those are ranked that nobody measured.
func (g *goalSearch) filledOverBand(held []*contender) ([]*contender, error) {
	g.guarded = slices.ContainsFunc(held, (*contender).measured)
	g.phase, g.ended, g.ending = api.PhaseDetail, 0, len(held)
	err := g.inParallel(held, func(c *contender) error {
		r := c.play(g, c.replicas, simulate.Variant{})
		fast, slow, ok := r.sim.Extremes(r.res)
		if !ok || g.ctx.Err() != nil {
			return r.err
		}
		low, err := g.mostWithin(c, *c.fleet.most.Users, slow)
		if err != nil {
			return err
		}
		high, err := g.mostWithin(c, *c.fleet.most.Users, fast)
		if err == nil && g.ctx.Err() == nil { // else they were stopped
			low, high = min(low, *c.fleet.most.Users), max(high, *c.fleet.most.Users)
			c.fleet.mostLow, c.fleet.mostHigh = &low, &high
		}
		g.crowd(c, *c.fleet.most.Users)
		c.played[c.replicas] = r
		if g.guarded && !c.measured() {
			c.fleet.by = g.byUsers(c, low)
		}
		return err
	})
	slices.SortStableFunc(held, func(a, b *contender) int { return a.fleet.objective.compare(&b.fleet.objective) })
	return held, err
}

// whyNoMore says what breaks with a few users more.
func (g *goalSearch) whyNoMore(c *contender) string {
	users := *c.fleet.most.Users
	more := users + max(1, users/16)
	o := *c
	g.crowd(&o, more)
	r := o.newRound(c.replicas, simulate.Variant{}).run(g)
	if r.err != nil || r.meets || r.res.Finished == 0 {
		return ""
	}
	return fmt.Sprintf("with %d users %s", more, g.breaks(r))
}

// crowd gives a contender's load so many users; what was played with others is forgotten.
func (g *goalSearch) crowd(c *contender, users int64) {
	c.sim = simulate.WithUsers(c.sim, g.original.Workload, users)
	c.played = map[int64]*round{}
}

// mostUsersOf a replica of a fleet that was filled; 0 where it was not.
func mostUsersOf(c *contender, replicas int64) int64 {
	if c.fleet == nil || c.fleet.most == nil || c.fleet.most.Users == nil {
		return 0
	}
	return max(1, *c.fleet.most.Users/max(1, replicas))
}

// filledLoad is the load of an answer about the most users: as many as the best fleet holds.
func (g *goalSearch) filledLoad(best *contender) {
	g.spec.Concurrency = plan.Int(*best.fleet.most.Users)
	g.spec.Requests, g.spec.Warmup = best.sim.Spec.Requests, best.sim.Spec.Warmup
}
