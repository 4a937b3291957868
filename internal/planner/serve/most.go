package serve

import (
	"cmp"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/simulate"
	"github.com/memwall/memwall/internal/stable"
)

// To find how many users hardware holds within bounds, the most promising servers, on all devices, are filled with users until a
// bound breaks, and ranked by that number.

// mostFilledOfKind and mostFilled bound the servers filled, per kind of hardware and in all.
const mostFilledOfKind, mostFilled = 3, 16

// holdMost fills the most promising contenders with users.
func (p *playing) holdMost() error {
	next := p.roomiest()
	p.phase, p.ended, p.ending = api.PhasePlay, 0, len(next)
	if err := p.inParallel(next, func(c *contender) error {
		if p.ctx.Err() == nil {
			c.failed = c.fill()
		}
		return nil
	}); err != nil {
		return err
	}
	return p.failure()
}

// roomiest returns the best contenders by their estimates, the first of each kind of hardware before further ones.
func (p *playing) roomiest() (out []*contender) {
	stable.Sort(p.all, func(a, b *contender) int {
		return cmp.Or(-cmp.Compare(a.users*a.replicas, b.users*b.replicas), a.objective.compare(&b.objective))
	})
	of := map[string]int{}
	for _, c := range p.all {
		if of[c.kind]++; !c.impossible && c.possible() && of[c.kind] <= mostFilledOfKind && len(out) < mostFilled {
			out = append(out, c)
		}
	}
	return out
}

// fill finds the most users that all replicas of a contender hold together; if they hold none, it has no fleet.
func (c *contender) fill() error {
	n := c.replicas
	most, err := c.mostWithin(c.users*n, simulate.Variant{})
	if err != nil || most == 0 || c.task.ctx.Err() != nil {
		return err
	}
	c.crowd(most)
	r := c.play(n, simulate.Variant{})
	if r.err != nil {
		return r.err
	}
	requests, tokens := r.rates()
	c.fleet = &fleetPlan{replicas: n, objective: c.objectiveOf(n)}
	c.fleet.by = c.byUsers(most)
	c.fleet.most = &api.CurvePoint{Share: 1, Users: &most, Met: true, Rate: simulate.FourDigits(requests),
		Output: simulate.FourDigits(tokens), TTFT: simulate.Percentiles(&r.res.First), TPOT: simulate.Percentiles(&r.res.PerToken)}
	return nil
}

// mostWithin returns the most users that a contender's replicas hold in a variant, at the slow edge if that must hold too.
func (c *contender) mostWithin(guess int64, v simulate.Variant) (int64, error) {
	return simulate.MostUsers(c.task.original.Workload, guess, func(users int64) (bool, error) {
		c.crowd(users)
		r := c.play(c.replicas, v)
		if r.err != nil || !r.meets || !c.task.goal.Sure || v != (simulate.Variant{}) {
			return r.meets, r.err
		}
		slow := c.slowly(r, func(v simulate.Variant) *round { return c.play(c.replicas, v) })
		return slow.meets, slow.err
	})
}

// byUsers returns the rank of a fleet by the users it holds, or by the cost per user.
func (c *contender) byUsers(users int64) [4]float64 {
	dollars := c.dollars(c.replicas)
	if c.task.minimize() == "cost" && c.task.goal.Minimize != "" {
		return [4]float64{dollars / float64(max(1, users)), c.loss}
	}
	return [4]float64{-float64(users), dollars, c.loss}
}

// crowd sets the number of users of a contender's load and discards rounds simulated with others.
func (c *contender) crowd(users int64) {
	c.sim = simulate.WithUsers(c.sim, c.task.original.Workload, users)
	c.played = map[int64]*round{}
}

// mostUsersOf returns the users per replica of a filled fleet; 0 if it was not filled.
func mostUsersOf(c *contender, replicas int64) int64 {
	if c.fleet == nil || c.fleet.most == nil || c.fleet.most.Users == nil {
		return 0
	}
	return max(1, *c.fleet.most.Users/max(1, replicas))
}
