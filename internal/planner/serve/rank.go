package serve

import (
	"cmp"
	"math"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/cost"
	"github.com/memwall/memwall/internal/planner"
	"github.com/memwall/memwall/internal/planner/change"
	"github.com/memwall/memwall/internal/simulate"
	"github.com/memwall/memwall/speed/serving"
)

// objective is what a fleet is ranked by: less is better.
type objective struct {
	impossible bool
	unpriced   bool
	by         [4]float64
}

func (o *objective) compare(p *objective) int {
	flag := func(a, b bool) int {
		switch {
		case a == b:
			return 0
		case a:
			return 1
		}
		return -1
	}
	if c := cmp.Or(flag(o.impossible, p.impossible), flag(o.unpriced, p.unpriced)); c != 0 {
		return c
	}
	for i := range o.by {
		if c := cmp.Compare(o.by[i], p.by[i]); c != 0 {
			return c
		}
	}
	return 0
}

// objective of a contender with so many replicas: what is to be least, then what else counts. Between fleets that cost the
// same, loss of quality and the time of an answer are weighed as in a search for what fits (internal/planner/price.go).
func (g *goalSearch) objective(c *contender, replicas int64) objective {
	return g.weigh(c, g.dollars(c, replicas), float64(replicas*c.devices), g.requestSeconds(c, replicas))
}

// weigh what a fleet costs, its devices and the time of an answer by what is to be least.
func (g *goalSearch) weigh(c *contender, dollars, devices, life float64) objective {
	alike := c.loss + change.PriceOfDoubling[g.minimize()]*math.Log2(math.Max(life, 1e-9)) // quality and time against each other
	o := objective{unpriced: math.IsInf(dollars, 1)}
	switch g.minimize() {
	case "latency":
		o.unpriced, o.by = false, [4]float64{life, dollars, devices, c.loss}
	case "devices":
		o.unpriced, o.by = false, [4]float64{devices, dollars, alike}
	case "quality_loss":
		o.by = [4]float64{c.loss, dollars, devices, life}
	default:
		o.by = [4]float64{dollars, devices, alike}
	}
	return o
}

// compareCertainty orders fleets of which as much is to be least: those that also hold at the slow edge of their band come first.
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

func (g *goalSearch) minimize() string { return cmp.Or(g.goal.Minimize, "cost") }

// requestSeconds of a request, in seconds: as it was played, else as estimated.
func (g *goalSearch) requestSeconds(c *contender, replicas int64) float64 {
	if r := c.played[replicas]; r != nil && r.err == nil && r.res.Whole.N() > 0 {
		return simulate.FourDigits(1000*r.res.Whole.Mean().Seconds()) / 1000
	}
	at := c.at
	if replicas != c.replicas || at == (serving.Closed{}) {
		at = g.steady(c, g.usersOf(c, replicas))
	}
	return at.First + float64(g.output-1)*at.PerToken
}

// money is what a fleet costs an hour: its rent, or what it costs its owner where that is known and less.
func (g *goalSearch) money(c *contender, replicas int64) cost.Rate {
	rent := g.rent(c, replicas)
	if own := g.own(c, int(replicas*c.devices)); own.PerHour.Known() && (!rent.PerHour.Known() || own.PerHour.Mid < rent.PerHour.Mid) {
		return own
	}
	return rent
}

// rent of a fleet; unknown where devices are unlike.
func (g *goalSearch) rent(c *contender, replicas int64) cost.Rate {
	return g.env.RentOf(c.sim.Question.Job.Machine, int(replicas*c.devices))
}

// merits of a fleet: dollars an hour, in the mean of the day where it follows one, devices, the mean time of an answer, both
// times at their 99th percentile, loss of quality, whether it also holds at the slow edge of its band, whether its kind was measured,
// and what it is ranked by where it was not. Figures are those of the answer, and what is not known is worst.
func (c *contender) merits(g *goalSearch) planner.Merits {
	dollars, devices, life := c.cautious(g)
	unmeasured := 1.0
	if c.measured() {
		unmeasured = 0
	}
	m := planner.Merits{g.dollars(c, c.fleet.replicas), float64(c.fleet.replicas * c.devices), math.Inf(1), math.Inf(1), math.Inf(1),
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
	if g.goal.MostUsers {
		m[6] = -float64(*c.fleet.most.Users)
	}
	return m
}

// dollars of an hour, in the mean of the day where the fleet follows one; without end where nobody's price is known.
func (g *goalSearch) dollars(c *contender, replicas int64) float64 {
	money := g.money(c, replicas)
	if !money.PerHour.Known() {
		return math.Inf(1)
	}
	return simulate.FourDigits(money.PerHour.Mid * g.original.Day.Share(replicas))
}
