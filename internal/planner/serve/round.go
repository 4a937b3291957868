package serve

import (
	"math"
	"time"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/simulate"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/sim"
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
	r := c.newRound(g, replicas, v)
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
func (c *contender) newRound(g *goalSearch, replicas int64, v simulate.Variant) *round {
	s, q := *c.sim, *c.sim.Question
	if share := float64(MostTogether) / float64(replicas); share < 1 && s.Spec.Trace == "" {
		s.Spec.Rate *= share
		s.Spec.Concurrency = plan.Int(math.Ceil(share * float64(s.Spec.Concurrency)))
		replicas = MostTogether
	}
	q.Original.Replicas = plan.Int(replicas)
	s.Question, s.Unwatched, s.Settling = &q, true, g.settlingRequests()
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
func (g *goalSearch) settlingRequests() int64 {
	n := int64(*g.spec.Warmup)
	if most := int64(g.spec.Requests) / 4; g.spec.Requests > 0 {
		n = min(n, most)
	}
	return n
}

// mostUnserved is the share of requests that may be refused, fail or give up where nobody says how many must keep within
// the bounds.
const mostUnserved = 0.01

// meets reports whether a run holds the load, every percentile lies within its bound, nearly all are served and enough
// requests keep within all bounds.
func (g *goalSearch) meets(r *sim.Result) bool {
	l := simulate.LoadOf(r)
	if unserved := float64(r.Failed + r.Refused + r.HungUp); unserved > mostUnserved*float64(r.Asked) && g.goal.Attainment == 0 {
		return false
	}
	if r.Finished == 0 || r.Stopped || !l.Holds || !simulate.Within(&r.First, g.goal.TTFT) || !simulate.Within(&r.PerToken, g.goal.TPOT) {
		return false
	}
	return g.goal.Attainment == 0 || float64(r.Good) >= g.goal.Attainment*float64(max(1, r.First.N()+r.Failed+r.Refused+r.HungUp))
}

// giveUp ends a run as soon as more requests took longer than a bound than its percentile allows.
func (g *goalSearch) giveUp(s *simulate.Simulation) {
	judged := float64(g.spec.Requests) - float64(s.Settling)
	if g.spec.Trace != "" || judged <= 0 || g.spec.DurationS > 0 || !g.bounded() {
		return
	}
	var late []lateness
	for _, b := range []struct {
		by    map[string]float64
		token bool
	}{{g.goal.TTFT, false}, {g.goal.TPOT, true}} {
		for name, ms := range b.by {
			if q, err := api.Percentile(name); err == nil {
				late = append(late, lateness{bound: ms, token: b.token, left: (1-q)*judged + 1})
			}
		}
	}
	over := false
	s.Hopeless = func() bool { return over }
	s.EachRequest = func(d *sim.Done) {
		if d.Outcome != sim.Finished || d.ID < s.Settling {
			return
		}
		for i := range late {
			over = late[i].exceeds(d) || over
		}
	}
}

// lateness counts down the requests that may still be late.
type lateness struct {
	bound float64 // milliseconds
	token bool
	left  float64
}

// exceeds a request; true when too many were late.
func (l *lateness) exceeds(d *sim.Done) bool {
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
