package serve

import (
	"cmp"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/cost"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/simulate"
	"github.com/memwall/memwall/internal/timing"
)

// ownersRate returns the hourly cost of devices to their owner; unknown without terms or a price.
func ownersRate(c *contender, devices int) cost.Rate {
	if c.task.goal.Own == nil || len(c.sim.Question.Job.Machine.Groups) != 1 {
		return cost.Rate{}
	}
	watts := deviceWatts(c, c.usersOf(max(1, c.replicas)), 1)
	return cost.Own(c.sim.Question.Job.Machine.Groups[0].Device.ID, devices, watts, c.task.goal.Own.Terms())
}

// deviceWatts returns the average watts of a device whose server has the given users for the fraction busy of the time and idles
// otherwise.
func deviceWatts(c *contender, users int64, busy float64) cost.Figure {
	d := c.sim.Question.Job.Device(0)
	if d == nil {
		return cost.Figure{}
	}
	load := cost.Load{}
	if m := c.sim.Model; m != nil {
		load.Memory, load.Compute = m.Fractions(m.Decoding(c.task.loop(users)))
	} else {
		load.Memory = c.turns(users).BandwidthFraction
	}
	load.Memory, load.Compute = busy*load.Memory, busy*load.Compute
	return cost.Watts(d, load).Figure
}

// ownedOrRented compares buying a fleet with renting it; nil without terms, or if no price is known.
func ownedOrRented(c *contender, rent cost.Rate) *api.Owned {
	n := int(c.fleet.replicas * c.devices)
	own := ownersRate(c, n)
	if !own.PerHour.Known() {
		return nil
	}
	price := float64(n) * float64(own.Price.Purchase)
	out := &api.Owned{Purchase: simulate.FourDigits(price), Price: cmp.Or(own.Source, own.Price.Note),
		EnergyPerHour: simulate.FourDigits(own.PerHour.Mid - price/c.task.goal.Own.LifetimeHours)}
	timing.Figure(own.PerHour, &out.USDPerHour, &out.USDPerHourLow, &out.USDPerHourHigh)
	if !rent.PerHour.Known() {
		return out
	}
	if out.Cheaper = "rent"; own.PerHour.Mid < rent.PerHour.Mid {
		out.Cheaper = "buy"
	}
	if saved := rent.PerHour.Mid - out.EnergyPerHour; saved > 0 {
		out.BreakEvenHours = question.Rounded(out.Purchase / saved)
	}
	return out
}
