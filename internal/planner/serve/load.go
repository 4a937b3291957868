package serve

import (
	"cmp"
	"math"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/simulate"
	"github.com/memwall/memwall/plan"
)

// sharing returns an unsimulated round of a contender's fleet at a share of the load, and its users, which are nil for an open
// load.
func (c *contender) sharing(share float64) (r *round, users *int64) {
	r = c.newRound(c.fleet.replicas, simulate.Variant{})
	switch w := &r.sim.Spec; {
	case w.Concurrency > 0:
		w.Concurrency = max(1, plan.Int(math.Round(share*float64(w.Concurrency))))
		n := max(1, int64(math.Round(share*float64(c.task.spec.Concurrency))))
		users = &n
	case w.Rate > 0:
		w.Rate *= share
	default:
		w.Reading.Speed = share * cmp.Or(w.Reading.Speed, 1)
	}
	return r, users
}

// guess returns the estimated number of parts of the load, out of parts, that a fleet holds.
func (c *contender) guess(parts int64) int64 {
	whole := float64(c.task.spec.Concurrency)
	if c.task.rate > 0 {
		whole = c.task.rate
	}
	return int64(min(1, estimatedLoad(c)/whole) * float64(parts))
}

// fewer returns a round at a share of the load with as many requests as are needed to judge that many users, unless their number
// was given. A single user would need hours to send as many requests as thousands do.
func (c *contender) fewer(share float64) *round {
	r, users := c.sharing(share)
	if given := c.task.original.Workload; users != nil && (given == nil || given.Requests == 0) {
		r.sim = simulate.WithUsers(r.sim, given, int64(r.sim.Spec.Concurrency))
		r.sim.Settling = settlingRequests(&r.sim.Spec)
	}
	return r
}

// playShare simulates a share of the load on a contender's fleet. The full load was simulated when the fleet was found.
func (c *contender) playShare(share float64) (api.CurvePoint, error) {
	r, _ := c.sharing(share)
	if share == 1 {
		r = c.play(c.fleet.replicas, simulate.Variant{}).finished()
	} else {
		r.run()
	}
	if r.err != nil {
		return api.CurvePoint{Share: simulate.FourDigits(share)}, r.err
	}
	p := c.point(share, r)
	var err error
	p.Met, err = c.holds(share, r)
	return p, err
}

// point returns the outcome of a round at a share of the load.
func (c *contender) point(share float64, r *round) api.CurvePoint {
	_, users := c.sharing(share)
	requests, tokens := r.rates()
	times := r.scaleTo(c.fleet.replicas)
	return api.CurvePoint{Share: simulate.FourDigits(share), Users: users, Met: r.meets, Rate: simulate.FourDigits(times * requests),
		Output: simulate.FourDigits(times * tokens), TTFT: simulate.Percentiles(&r.res.First), TPOT: simulate.Percentiles(&r.res.PerToken)}
}

// shares are the shares of the load on a curve.
var shares = []float64{0.25, 0.5, 0.75, 1, 1.25, 1.5, 2}

// curve simulates a fleet's times over the load.
func (c *contender) curve() error {
	if c.task.spec.Arrivals == "burst" {
		return nil
	}
	for _, x := range shares {
		p, err := c.playShare(x)
		if err != nil || c.task.ctx.Err() != nil {
			return err
		}
		c.fleet.curve = append(c.fleet.curve, p)
	}
	c.fleet.level()
	low, _ := c.fleet.bounds()
	c.fleet.most = c.curvePointAt(low)
	return nil
}

// bounds returns the largest share of the load, starting from the full load, up to which all points hold, and the next share, which
// does not; 0 if none failed.
func (f *fleetPlan) bounds() (low, high float64) {
	for i := range f.curve {
		switch p := &f.curve[i]; {
		case p.Share < 1 || high > 0:
		case p.Met:
			low = p.Share
		default:
			high = p.Share
		}
	}
	return low, high
}

// halvings is the number of bisections between a share that holds and one that does not.
const halvings = 4

// mostLoad bisects for the largest load that the fleet holds.
func (c *contender) mostLoad() error {
	low, high := c.fleet.bounds()
	for range halvings {
		if high == 0 || c.task.spec.Concurrency > 0 && (high-low)*float64(c.task.spec.Concurrency) <= 1 {
			return nil
		}
		p, err := c.playShare((low + high) / 2)
		if err != nil || c.task.ctx.Err() != nil {
			return err
		}
		if p.Met {
			low, c.fleet.most = (low+high)/2, &p
		} else {
			high = (low + high) / 2
		}
	}
	return nil
}

// curvePointAt returns the point of the curve at a share of the load.
func (c *contender) curvePointAt(share float64) *api.CurvePoint {
	for i := range c.fleet.curve {
		if c.fleet.curve[i].Share == share {
			return &c.fleet.curve[i]
		}
	}
	return nil
}
