package serve

import (
	"math"

	"github.com/memwall/memwall/internal/simulate"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/sim"
	"github.com/memwall/memwall/workload"
)

// round is a load that a fleet of so many replicas was played at.
type round struct {
	sim   *simulate.Simulation
	res   *sim.Result
	as    simulate.Variant
	meets bool
	err   error
}

// play the load on so many replicas, for as long as they may meet the goal. Rounds of the plan itself are kept.
func (c *contender) play(g *goalSearch, replicas int64, v simulate.Variant) *round {
	if r := c.played[replicas]; r != nil && v == (simulate.Variant{}) {
		return r
	}
	r := c.newRound(replicas, v)
	g.giveUp(r.sim)
	r.run(g)
	if v == (simulate.Variant{}) {
		c.played[replicas] = r
	}
	return r
}

// MostTogether are as many replicas as are played: of more, so many with their share of the load. Fewer servers share luck
// less well, so that this errs towards more of them (a tenth for fleets of forty slots); it is chosen for speed.
const MostTogether = 32

// newRound is a round that was not played yet.
func (c *contender) newRound(replicas int64, v simulate.Variant) *round {
	s, q := *c.sim, *c.sim.Question
	if share := float64(MostTogether) / float64(replicas); share < 1 && s.Spec.Trace == "" {
		s.Spec.Rate *= share
		s.Spec.Concurrency = plan.Int(math.Ceil(share * float64(s.Spec.Concurrency)))
		replicas = MostTogether
	}
	q.Original.Replicas = plan.Int(replicas)
	s.Question, s.Unwatched, s.Settling = &q, true, settlingRequests(&s.Spec)
	return &round{sim: &s, as: v}
}

// run a round.
func (r *round) run(g *goalSearch) *round {
	if r.res, r.err = r.sim.Run(r.as); r.err == nil {
		r.meets = g.meets(r.res)
	}
	return r
}

// finished is the round with all of its requests, where it was given up and there is time.
func (r *round) finished(g *goalSearch) *round {
	if r.err != nil || !r.res.Stopped || g.ctx.Err() != nil {
		return r
	}
	s := *r.sim
	s.Hopeless, s.EachRequest = nil, nil
	return (&round{sim: &s, as: r.as}).run(g)
}

// settlingRequests is how many requests of a round pass before any counts.
func settlingRequests(w *workload.Spec) int64 {
	n := int64(*w.Warmup)
	if most := int64(w.Requests) / 4; w.Requests > 0 {
		n = min(n, most)
	}
	return n
}

// meets reports whether a run holds the load within the goal.
func (g *goalSearch) meets(r *sim.Result) bool { return simulate.Meets(r, &g.goal) }

// giveUp ends a run as soon as it cannot meet the goal any more.
func (g *goalSearch) giveUp(s *simulate.Simulation) { simulate.GiveUp(s, &g.goal) }
