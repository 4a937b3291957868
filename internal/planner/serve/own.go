package serve

import (
	"cmp"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/cost"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/simulate"
	"github.com/memwall/memwall/internal/timing"
)

// own is what so many devices cost their owner an hour; unknown without terms or a price.
func (g *goalSearch) own(c *contender, devices int) cost.Rate {
	if g.goal.Own == nil || len(c.sim.Question.Job.Machine.Groups) != 1 {
		return cost.Rate{}
	}
	return cost.Own(c.sim.Question.Job.Machine.Groups[0].Device.ID, devices, g.watts(c), g.goal.Own.Terms())
}

// watts of one device of a server at the users that it has, all of whose time it computes.
func (g *goalSearch) watts(c *contender) cost.Figure {
	return c.watts(g.usersOf(c, max(1, c.replicas)), g, 1)
}

// watts of one device while the server has so many users, for a share of the time; the rest of it the device idles.
func (c *contender) watts(users int64, g *goalSearch, busy float64) cost.Figure {
	d := c.sim.Question.Job.Device(0)
	if d == nil {
		return cost.Figure{}
	}
	load := cost.Load{}
	if m := c.sim.Model; m != nil {
		load.Memory, load.Compute = m.Fractions(m.Decoding(g.loop(users)))
	} else {
		load.Memory = c.turns(g, users).BandwidthFraction
	}
	load.Memory, load.Compute = busy*load.Memory, busy*load.Compute
	return cost.Watts(d, load).Figure
}

// owned compares buying a fleet with renting it; nil without terms, or where no price is known.
func (g *goalSearch) owned(c *contender, rent cost.Rate) *api.Owned {
	n := int(c.fleet.replicas * c.devices)
	own := g.own(c, n)
	if !own.PerHour.Known() {
		return nil
	}
	price := float64(n) * float64(own.Price.Purchase)
	out := &api.Owned{Purchase: simulate.FourDigits(price),
		EnergyPerHour: simulate.FourDigits(own.PerHour.Mid - price/g.goal.Own.LifetimeHours), Price: cmp.Or(own.Source, own.Price.Note)}
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
