package serve

import (
	"cmp"
	"github.com/memwall/memwall/cost"
	"github.com/memwall/memwall/internal/planner/change"
	"github.com/memwall/memwall/internal/simulate"
	"github.com/memwall/memwall/speed/serving"
	"math"
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

// objectiveOf a contender with so many replicas: what is to be least, then what else counts. Between fleets that cost the
// same, loss of quality and the time of an answer are weighed as in a search for what fits (internal/planner/price.go).
func (c *contender) objectiveOf(replicas int64) objective {
	return c.weigh(c.dollars(replicas), float64(replicas*c.devices), c.requestSeconds(replicas))
}

// weigh what a fleet costs, its devices and the time of an answer by what is to be least.
func (c *contender) weigh(dollars, devices, life float64) objective {
	if c.tuned() {
		life *= worthTuning
	}
	alike := c.loss + change.PriceOfDoubling[c.task.minimize()]*math.Log2(math.Max(life, 1e-9)) // quality and time against each other
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

// worthTuning is by how much a budget of steps other than the engine's own must shorten answers to be named in its place: what
// is less lies within what times of steps are off by (docs/accuracy.md, serving TPOT). What keeps a bound that the engine's own
// does not, or costs less, is taken all the same.
const worthTuning = 1.1

// tuned reports whether the budget of steps is one that was tried here, and not the engine's own or the user's.
func (c *contender) tuned() bool {
	return c.task.asked.MaxBatchedTokens == 0 && c.request.MaxBatchedTokens > 0
}

// requestSeconds of a request, in seconds: as it was played, else as estimated.
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

// money is what a fleet costs an hour: its rent, or what it costs its owner where that is known and less.
func (c *contender) money(replicas int64) cost.Rate {
	rent := c.rent(replicas)
	if own := ownersRate(c, int(replicas*c.devices)); own.PerHour.Known() && (!rent.PerHour.Known() || own.PerHour.Mid < rent.PerHour.Mid) {
		return own
	}
	return rent
}

// rent of a fleet; unknown where devices are unlike.
func (c *contender) rent(replicas int64) cost.Rate {
	return c.task.env.RentOf(c.sim.Question.Job.Machine, int(replicas*c.devices))
}

// dollars of an hour, averaged over the day where the fleet follows one; without end where nobody's price is known.
func (c *contender) dollars(replicas int64) float64 {
	money := c.money(replicas)
	if !money.PerHour.Known() {
		return math.Inf(1)
	}
	return simulate.FourDigits(money.PerHour.Mid * c.task.original.Day.Share(replicas))
}
