package serve

import (
	"cmp"
	"github.com/memwall/memwall/cost"
	"github.com/memwall/memwall/internal/planner/change"
	"github.com/memwall/memwall/internal/simulate"
	"github.com/memwall/memwall/speed/serving"
	"math"
)

// objective is the key that fleets are ranked by; less is better.
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

// objectiveOf returns the objective of a contender with the given replicas: the figure to minimize, then the others. Among fleets
// of equal cost, quality loss and answer time are weighed as in a search for what fits (internal/planner/price.go).
func (c *contender) objectiveOf(replicas int64) objective {
	return c.weigh(c.dollars(replicas), float64(replicas*c.devices), c.requestSeconds(replicas))
}

// weigh orders cost, devices and answer time by the figure to minimize.
func (c *contender) weigh(dollars, devices, life float64) objective {
	if c.tuned() {
		life *= worthTuning
	}
	alike := c.loss + change.PriceOfDoubling[c.task.minimize()]*math.Log2(math.Max(life, 1e-9)) // trades quality against time
	o := objective{unpriced: math.IsInf(dollars, 1)}
	switch c.task.minimize() {
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

// worthTuning is the factor by which a token budget other than the engine's default must shorten answers to be preferred: less is
// within the error of step times (docs/accuracy.md, serving TPOT). A budget that keeps a bound which the default breaks, or that
// costs less, is preferred regardless.
const worthTuning = 1.1

// tuned reports whether the token budget was chosen by the search, not by the engine or the user.
func (c *contender) tuned() bool {
	return c.task.asked.MaxBatchedTokens == 0 && c.request.MaxBatchedTokens > 0
}

// requestSeconds returns the seconds per request, as simulated, else as estimated.
func (c *contender) requestSeconds(replicas int64) float64 {
	if r := c.played[replicas]; r != nil && r.err == nil && r.res.Whole.N() > 0 {
		return simulate.FourDigits(1000*r.res.Whole.Mean().Seconds()) / 1000
	}
	at := c.at
	if replicas != c.replicas || at == (serving.Closed{}) {
		at = c.steady(c.usersOf(replicas))
	}
	return at.First + float64(c.task.output-1)*at.PerToken
}

// money returns the hourly cost of a fleet: its rent, or the owner's cost if known and lower.
func (c *contender) money(replicas int64) cost.Rate {
	rent := c.rent(replicas)
	if own := ownersRate(c, int(replicas*c.devices)); own.PerHour.Known() && (!rent.PerHour.Known() || own.PerHour.Mid < rent.PerHour.Mid) {
		return own
	}
	return rent
}

// rent returns the rent of a fleet; unknown for mixed devices.
func (c *contender) rent(replicas int64) cost.Rate {
	return c.task.env.RentOf(c.sim.Question.Job.Machine, int(replicas*c.devices))
}

// dollars returns dollars per hour, averaged over the day for a fleet that follows one; infinite if no price is known.
func (c *contender) dollars(replicas int64) float64 {
	money := c.money(replicas)
	if !money.PerHour.Known() {
		return math.Inf(1)
	}
	return simulate.FourDigits(money.PerHour.Mid * c.task.original.Day.Share(replicas))
}
