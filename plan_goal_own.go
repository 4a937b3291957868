package memwall

import (
	"cmp"
	"fmt"

	"github.com/memwall/memwall/cost"
	"github.com/memwall/memwall/unit"
)

// check refuses terms that are none.
func (o *Ownership) check() error {
	if o == nil {
		return nil
	}
	for _, f := range []struct {
		name  string
		value float64
		ok    bool
		hint  string
	}{
		{"lifetime_hours", o.LifetimeHours, o.LifetimeHours > 0 && o.LifetimeHours <= 1e6, "hours of use, such as 26280 for three years"},
		{"usd_per_kwh", o.PerKWh, o.PerKWh > 0 && o.PerKWh <= 100, "dollars, such as 0.15"},
		{"overhead", o.Overhead, o.Overhead >= 1 && o.Overhead <= 10, "watts that the site draws for each watt of the devices, such as 1.4"},
		{"usd_per_device", o.Purchase, o.Purchase >= 0 && o.Purchase <= 1e8, "the price of one device, in dollars"},
	} {
		if !f.ok {
			return &Error{Code: BadField, Field: "goal.own." + f.name, Value: fmt.Sprint(f.value), Message: fmt.Sprintf("goal.own.%s = %v is missing or out of range", f.name, f.value), Hint: f.hint}
		}
	}
	return nil
}

// terms of an owner as package cost knows them.
func (o *Ownership) terms() cost.Terms {
	return cost.Terms{LifetimeHours: o.LifetimeHours, PerKWh: unit.USD(o.PerKWh), Overhead: o.Overhead, Purchase: unit.USD(o.Purchase)}
}

// own is what so many devices cost their owner an hour; unknown without terms or a price.
func (g *goalSearch) own(c *contender, devices int) cost.Rate {
	if g.goal.Own == nil || len(c.sim.q.job.Machine.Groups) != 1 {
		return cost.Rate{}
	}
	return cost.Own(c.sim.q.job.Machine.Groups[0].Device.ID, devices, g.watts(c), g.goal.Own.terms())
}

// watts of one device of a server at the users that it has, all of whose time it computes.
func (g *goalSearch) watts(c *contender) cost.Figure {
	return c.watts(g.usersOf(c, max(1, c.replicas)), g, 1)
}

// watts of one device while the server has so many users, for a share of the time; the rest of it the device idles.
func (c *contender) watts(users int64, g *goalSearch, busy float64) cost.Figure {
	d := c.sim.q.job.Device(0)
	if d == nil {
		return cost.Figure{}
	}
	load := cost.Load{}
	if m := c.sim.model; m != nil {
		load.Memory, load.Compute = m.Fractions(m.Decoding(g.loop(users)))
	} else {
		load.Memory = c.turns(g, users).BandwidthFraction
	}
	load.Memory, load.Compute = busy*load.Memory, busy*load.Compute
	return cost.Watts(d, load).Figure
}

// Owned is what devices cost their owner, beside renting them.
type Owned struct {
	USDPerHour     *float64 `json:"usd_per_hour"`
	USDPerHourLow  *float64 `json:"usd_per_hour_low,omitempty"`
	USDPerHourHigh *float64 `json:"usd_per_hour_high,omitempty"`
	// Purchase is of all devices. BreakEvenHours of use cost as much rented as bought; absent where renting is never dearer
	// than the energy, or no rent is known.
	Purchase       float64  `json:"usd_purchase"`
	EnergyPerHour  float64  `json:"usd_energy_per_hour"`
	BreakEvenHours *float64 `json:"break_even_hours"`
	// Cheaper says whether to buy or to rent for the whole lifetime.
	Cheaper string `json:"cheaper,omitempty"`
	Price   string `json:"price,omitempty"`
}

// owned compares buying a fleet with renting it; nil without terms, or where no price is known.
func (g *goalSearch) owned(c *contender, rent cost.Rate) *Owned {
	n := int(c.fleet.replicas * c.devices)
	own := g.own(c, n)
	if !own.PerHour.Known() {
		return nil
	}
	price := float64(n) * float64(own.Price.Purchase)
	out := &Owned{Purchase: four(price), EnergyPerHour: four(own.PerHour.Mid - price/g.goal.Own.LifetimeHours), Price: cmp.Or(own.Source, own.Price.Note)}
	figure(own.PerHour, &out.USDPerHour, &out.USDPerHourLow, &out.USDPerHourHigh)
	if !rent.PerHour.Known() {
		return out
	}
	if out.Cheaper = "rent"; own.PerHour.Mid < rent.PerHour.Mid {
		out.Cheaper = "buy"
	}
	if saved := rent.PerHour.Mid - out.EnergyPerHour; saved > 0 {
		out.BreakEvenHours = rounded(out.Purchase / saved)
	}
	return out
}
