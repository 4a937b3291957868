package serve

import (
	"math"

	"github.com/memwall/memwall/internal/simulate"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/sim"
	"github.com/memwall/memwall/workload"
)

// round is a simulation of a load on a number of replicas.
type round struct {
	task  *task
	sim   *simulate.Simulation
	res   *sim.Result
	as    simulate.Variant
	meets bool
	err   error
}

// play simulates the load on the given replicas for as long as they may meet the goal. Rounds of the plan itself are cached.
func (c *contender) play(replicas int64, v simulate.Variant) *round {
	if r := c.played[replicas]; r != nil && v == (simulate.Variant{}) {
		return r
	}
	r := c.newRound(replicas, v)
	c.task.giveUp(r.sim)
	r.run()
	if v == (simulate.Variant{}) {
		c.played[replicas] = r
	}
	return r
}

// MostTogether is the most replicas that are simulated; a larger fleet is represented by that many with their share of the load.
// Fewer servers balance load less well, so that this errs towards more replicas (by a tenth for fleets of forty slots); the bound
// is for speed.
const MostTogether = 32

// newRound returns a round to be simulated.
func (c *contender) newRound(replicas int64, v simulate.Variant) *round {
	s, q := *c.sim, *c.sim.Question
	if share := float64(MostTogether) / float64(replicas); share < 1 && s.Spec.Trace == "" {
		s.Spec.Rate *= share
		s.Spec.Concurrency = plan.Int(math.Ceil(share * float64(s.Spec.Concurrency)))
		replicas = MostTogether
	}
	q.Original.Replicas = plan.Int(replicas)
	s.Question, s.Unwatched, s.Settling = &q, true, settlingRequests(&s.Spec)
	return &round{task: c.task, sim: &s, as: v}
}

// run simulates a round.
func (r *round) run() *round {
	if r.res, r.err = r.sim.Run(r.as); r.err == nil {
		r.meets = r.task.meets(r.res)
	}
	return r
}

// finished returns the round with all of its requests, if it was given up and there is time.
func (r *round) finished() *round {
	if r.err != nil || !r.res.Stopped || r.task.ctx.Err() != nil {
		return r
	}
	s := *r.sim
	s.Hopeless, s.EachRequest = nil, nil
	return (&round{task: r.task, sim: &s, as: r.as}).run()
}

// settlingRequests returns the number of requests of a round that are ignored as warm-up.
func settlingRequests(w *workload.Spec) int64 {
	n := int64(*w.Warmup)
	if most := int64(w.Requests) / 4; w.Requests > 0 {
		n = min(n, most)
	}
	return n
}

// slowly simulates a round again with steps at the slow edge of the band. Without a known band, nothing is certain.
func (c *contender) slowly(r *round, again func(simulate.Variant) *round) *round {
	_, slow, ok := r.sim.Extremes(r.res)
	if !ok {
		return &round{task: r.task, sim: r.sim, res: r.res, as: r.as}
	}
	return again(slow)
}

// holds reports whether a share of the load holds, also at the slow edge if required.
func (c *contender) holds(share float64, r *round) (bool, error) {
	if !r.meets || !c.task.goal.Sure {
		return r.meets, r.err
	}
	slow := c.slowly(r, func(v simulate.Variant) *round {
		s, _ := c.sharing(share)
		s.as = v
		c.task.giveUp(s.sim)
		return s.run()
	})
	return slow.meets, slow.err
}
