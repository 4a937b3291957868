package memwall

import (
	"cmp"
	"fmt"

	"github.com/memwall/memwall/cost"
	"github.com/memwall/memwall/sim"
	"github.com/memwall/memwall/speed"
)

// Fleet is as many replicas of one server as a load needs, and what that costs.
type Fleet struct {
	Hardware string `json:"hardware"` // of which all devices are
	Replicas int64  `json:"replicas"`
	Devices  int64  `json:"devices"` // in all
	// Meets the goal at the load: yes also where every step takes as long as at the slow edge of its band, likely in the
	// middle of the band only, no; estimated where it was not played.
	Meets string `json:"meets"`
	// Sure is how many replicas meet it at the slow edge too; absent where nobody looked, or none near do.
	Sure *int64 `json:"sure_replicas,omitempty"`
	// Runs are the measured ones of the same device, engine and layout that the times rest on. A fleet without any is ranked by its
	// slow edge, and has to be clearly better there.
	Runs int64 `json:"measured_runs"`
	// UsersEach are the users, or the requests that run at once, of a replica in the mean.
	UsersEach float64 `json:"users_per_replica"`
	// HoldsRate and HoldsUsers are the most of the load that the fleet was seen to hold within the goal.
	HoldsRate  *float64 `json:"holds_requests_per_s,omitempty"`
	HoldsUsers *int64   `json:"holds_users,omitempty"`

	USDPerHour        *float64 `json:"usd_per_hour"`
	USDPerHourLow     *float64 `json:"usd_per_hour_low,omitempty"`
	USDPerHourHigh    *float64 `json:"usd_per_hour_high,omitempty"`
	USDPerHourDay     *float64 `json:"usd_per_hour_of_day,omitempty"` // in the mean of the day, with as many replicas as each part takes
	USDPerMillion     *float64 `json:"usd_per_million_tokens"`        // of answers, at the load
	USDPerMillionLow  *float64 `json:"usd_per_million_tokens_low,omitempty"`
	USDPerMillionHigh *float64 `json:"usd_per_million_tokens_high,omitempty"`
	Price             string   `json:"price,omitempty"`
	Owned             *Owned   `json:"owned,omitempty"`

	Watts              *float64 `json:"watts"` // of all devices at the load
	WattsLow           *float64 `json:"watts_low,omitempty"`
	WattsHigh          *float64 `json:"watts_high,omitempty"`
	JoulesPerToken     *float64 `json:"joules_per_token"`
	JoulesPerTokenLow  *float64 `json:"joules_per_token_low,omitempty"`
	JoulesPerTokenHigh *float64 `json:"joules_per_token_high,omitempty"`

	// Parts are where the time of a token goes in a steady state of as many users.
	Parts []SpeedPart  `json:"parts,omitempty"`
	Curve []CurvePoint `json:"curve,omitempty"`
}

// fleetPlan is a fleet on its way to an answer.
type fleetPlan struct {
	replicas int64
	objective
	edges struct{ low, high *round }
	sure  int64
	curve []CurvePoint
	most  *CurvePoint
	least *round // at the least load that is tried, where not even that is held
}

// result of the fleet as it was played; nil where it was not.
func (c *contender) result() *sim.Result {
	if r := c.played[c.fleet.replicas]; r != nil && r.err == nil {
		return r.res
	}
	return nil
}

// edge plays the fleet at both edges of its band.
func (c *contender) edge(g *goalSearch) error {
	r := c.played[c.fleet.replicas]
	if r == nil || r.err != nil {
		return nil
	}
	fast, slow, ok := r.sim.extremes(r.res)
	if !ok {
		return nil
	}
	c.fleet.edges.low, c.fleet.edges.high = c.on(g, c.fleet.replicas, fast).run(g), c.on(g, c.fleet.replicas, slow).run(g)
	return cmp.Or(c.fleet.edges.low.err, c.fleet.edges.high.err)
}

// surely finds how many replicas hold at the slow edge.
func (c *contender) surely(g *goalSearch) (err error) {
	r := c.played[c.fleet.replicas]
	if high := c.fleet.edges.high; high == nil || r == nil {
		return nil
	} else if high.meets {
		c.fleet.sure = c.fleet.replicas
		return nil
	}
	_, slow, _ := r.sim.extremes(r.res)
	c.fleet.sure, err = c.fewestOf(g, slow)
	return err
}

// fleetOf writes a contender's fleet.
func (g *goalSearch) fleetOf(c *contender) *Fleet {
	n := c.fleet.replicas
	f := &Fleet{Hardware: c.kind, Replicas: n, Devices: n * c.devices, Meets: c.meets(), Runs: c.runs, UsersEach: float64(g.usersOf(c, n)), Curve: c.fleet.curve}
	if c.fleet.sure > 0 {
		f.Sure = &c.fleet.sure
	}
	output, busy := speed.Figure{}, 1.0
	if r := c.played[n]; c.result() != nil {
		requests, tokens := r.rates()
		requests, output, busy = r.of(n)*requests, certain(r.of(n)*tokens), r.busy()
		f.UsersEach = four(r.res.Whole.Mean().Seconds() * requests / float64(n))
	}
	g.spend(c, f, output, busy)
	if m := c.fleet.most; m != nil {
		f.HoldsRate, f.HoldsUsers = rounded(m.Rate), m.Users
		if m.Users == nil && g.rate > 0 {
			f.HoldsRate = rounded(m.Share * g.rate)
		}
	}
	for _, part := range c.parts(g, max(1, int64(f.UsersEach+0.5))) {
		f.Parts = append(f.Parts, SpeedPart{Name: identifier(part.Name), MS: *rounded(1000 * part.Seconds), Bound: part.Bound})
	}
	return f
}

// meets is the word for whether the goal is met.
func (c *contender) meets() string {
	r := c.played[c.fleet.replicas]
	switch {
	case r == nil:
		return "estimated"
	case !r.meets:
		return "no"
	case c.fleet.edges.high != nil && c.fleet.edges.high.meets:
		return "yes"
	}
	return "likely"
}

// spend writes what a fleet takes in money and energy. busy is the share of the time that its servers compute.
func (g *goalSearch) spend(c *contender, f *Fleet, output speed.Figure, busy float64) {
	m := c.sim.q.job.Machine
	if len(m.Groups) != 1 {
		return
	}
	watts := c.watts(max(1, int64(f.UsersEach)), g, busy)
	figure(watts.Times(float64(f.Devices)), &f.Watts, &f.WattsLow, &f.WattsHigh)
	f.Owned = g.owned(c, g.rent(c, f.Replicas))
	money := g.money(c, f.Replicas)
	figure(money.PerHour, &f.USDPerHour, &f.USDPerHourLow, &f.USDPerHourHigh)
	if money.PerHour.Known() {
		f.Price = priceWords(&money, f.Devices)
	}
	if dollars := g.dollars(c, f.Replicas); g.original.Day != nil && money.PerHour.Known() {
		f.USDPerHourDay = &dollars
	}
	for i := range f.Curve {
		if p := &f.Curve[i]; p.Output > 0 && money.PerHour.Known() {
			p.USDPerMillion = rounded(cost.PerMillion(money, certain(p.Output)).Mid)
		}
	}
	if output.Known() {
		figure(cost.JoulesPerToken(watts, int(f.Devices), output), &f.JoulesPerToken, &f.JoulesPerTokenLow, &f.JoulesPerTokenHigh)
		figure(cost.PerMillion(money, output), &f.USDPerMillion, &f.USDPerMillionLow, &f.USDPerMillionHigh)
	}
}

// priceWords say whose price it is.
func priceWords(r *cost.Rate, devices int64) string {
	if r.Price.Kind != "on-demand" {
		return fmt.Sprintf("bought at $%.0f a device, energy included; %s", float64(r.Price.Purchase), cmp.Or(r.Date, r.Price.Note, r.Source))
	}
	words := fmt.Sprintf("%s on demand: $%.2f an hour for %d", r.Price.Provider, r.PerHour.Mid, devices)
	if r.Rows > 1 {
		words += fmt.Sprintf(", the middle of %d providers", r.Rows)
	}
	if r.Date != "" {
		words += ", " + r.Date
	}
	return words
}

func certain(x float64) speed.Figure { return speed.Figure{Mid: x, Low: x, High: x} }

// parts of the time of a token with so many users of a replica.
func (c *contender) parts(g *goalSearch, users int64) []speed.Part {
	switch s := c.sim; {
	case s.stream != nil:
		return byName(c.turns(g, users).Parts)
	case s.prompts != nil:
		return byName(s.q.split(s.prompts.model, s.model).Closed(g.loop(users)).Parts)
	default:
		l := g.loop(users)
		f := s.model.Closed(l)
		parts := byName(f.Parts)
		if x := s.crossing; x != nil {
			parts = append(parts, speed.Part{Name: "copies", Seconds: x(s.model.Decoding(l), f.Step), Bound: speed.Network})
		}
		if f.Others > 0 {
			parts = append(parts, speed.Part{Name: "prompts of others", Seconds: f.Others, Bound: speed.Compute})
		}
		return parts
	}
}
