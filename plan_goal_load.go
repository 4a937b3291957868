package memwall

import (
	"cmp"
	"math"

	"github.com/memwall/memwall/plan"
)

// CurvePoint is what a fleet does at a load.
type CurvePoint struct {
	// Share of the load that was asked for; Rate and Users are what that is.
	Share float64      `json:"share"`
	Rate  float64      `json:"requests_per_s"`
	Users *int64       `json:"users,omitempty"`
	TTFT  *Percentiles `json:"ttft_ms"`
	TPOT  *Percentiles `json:"tpot_ms"`
	// Output is the tokens of answers a second, USDPerMillion what a million of them costs: who pays by the hour pays more
	// for each where the fleet is idle.
	Output        float64  `json:"output_tokens_per_s"`
	USDPerMillion *float64 `json:"usd_per_million_tokens"`
	Met           bool     `json:"met"`
}

// loaded plays a share of the load on a contender's fleet.
func (c *contender) loaded(g *goalSearch, share float64) (*round, CurvePoint) {
	s, q := *c.sim, *c.sim.q
	q.original.Replicas = plan.Int(c.fleet.replicas)
	s.q, s.unwatched, s.settling = &q, true, g.settles()
	p := CurvePoint{Share: four(share)}
	switch w := &s.spec; {
	case w.Concurrency > 0:
		w.Concurrency = max(1, plan.Int(math.Round(share*float64(w.Concurrency))))
		n := int64(w.Concurrency)
		p.Users = &n
	case w.Rate > 0:
		w.Rate *= share
	default:
		w.Reading.Speed = share * cmp.Or(w.Reading.Speed, 1)
	}
	r := &round{sim: &s}
	if r.res, r.err = s.run(variant{}); r.err != nil {
		return r, p
	}
	r.meets = g.meets(r.res)
	rate := loadOf(r.res).Rate
	p.Met, p.Rate, p.Output, p.TTFT, p.TPOT = r.meets, rate.Requests, rate.Output, percentiles(&r.res.First), percentiles(&r.res.PerToken)
	return r, p
}

// shares of the load of a curve.
var shares = []float64{0.25, 0.5, 0.75, 0.9, 1, 1.1, 1.25, 1.5, 2}

// curve of a fleet's times over the load, and the most of the load that it holds within the goal.
func (c *contender) curve(g *goalSearch) error {
	if g.spec.Arrivals == "burst" {
		return nil
	}
	low, high := 1.0, 0.0
	for _, x := range shares {
		r, p := c.loaded(g, x)
		if r.err != nil {
			return r.err
		}
		c.fleet.curve = append(c.fleet.curve, p)
		switch {
		case x >= low && p.Met:
			low = x
		case x > low && high == 0:
			high = x
		}
	}
	for range 4 {
		if high == 0 || g.spec.Concurrency > 0 && (high-low)*float64(g.spec.Concurrency) <= 1 {
			break
		}
		mid := (low + high) / 2
		r, p := c.loaded(g, mid)
		if r.err != nil {
			return r.err
		}
		if p.Met {
			low, c.fleet.most = mid, &p
		} else {
			high = mid
		}
	}
	if c.fleet.most == nil {
		c.fleet.most = c.held(low)
	}
	return nil
}

// held is the point of the curve at a share of the load.
func (c *contender) held(share float64) *CurvePoint {
	for i := range c.fleet.curve {
		if c.fleet.curve[i].Share == share {
			return &c.fleet.curve[i]
		}
	}
	return nil
}
