package serve

import (
	"cmp"
	"fmt"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/cost"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/simulate"
	"github.com/memwall/memwall/internal/timing"
	"github.com/memwall/memwall/sim"
	"github.com/memwall/memwall/speed"
)

// fleetPlan is a fleet being evaluated.
type fleetPlan struct {
	replicas int64
	objective
	edges      struct{ low, high *round }
	atSlowEdge int64
	curve      []api.CurvePoint
	most       *api.CurvePoint
	// mostLow and mostHigh are the users at the edges of the band, if the most users are requested.
	mostLow, mostHigh *int64
	least             *round // at the least load tried, if even that does not hold
}

// result returns the simulated result of the fleet; nil if it was not simulated.
func (c *contender) result() *sim.Result {
	if r := c.played[c.fleet.replicas]; r != nil && r.err == nil {
		return r.res
	}
	return nil
}

// edge simulates the fleet at both edges of its band.
func (c *contender) edge() error {
	r := c.played[c.fleet.replicas]
	if r == nil || r.err != nil || c.task.ctx.Err() != nil {
		return nil
	}
	fast, slow, ok := r.sim.Extremes(r.res)
	if !ok {
		return nil
	}
	low, high := c.newRound(c.fleet.replicas, fast).run(), c.newRound(c.fleet.replicas, slow).run()
	if c.task.ctx.Err() == nil { // else stopped
		c.fleet.edges.low, c.fleet.edges.high = low, high
	}
	return cmp.Or(low.err, high.err)
}

// replicasAtSlowEdge finds how many replicas hold at the slow edge.
func (c *contender) replicasAtSlowEdge() (err error) {
	r := c.played[c.fleet.replicas]
	if high := c.fleet.edges.high; high == nil || r == nil {
		return nil
	} else if high.meets {
		c.fleet.atSlowEdge = c.fleet.replicas
		return nil
	}
	_, slow, _ := r.sim.Extremes(r.res)
	c.fleet.atSlowEdge, err = c.fewestOf(slow)
	return err
}

// fleetOf returns a contender's fleet for the answer.
func fleetOf(c *contender) *api.Fleet {
	n := c.fleet.replicas
	f := &api.Fleet{Hardware: c.kind, Replicas: n, Devices: n * c.devices, Meets: c.meets(), Runs: c.runs,
		UsersEach: float64(c.usersOf(n)), Curve: c.fleet.curve}
	if c.fleet.atSlowEdge > 0 {
		f.Sure = &c.fleet.atSlowEdge
	}
	output, busy := speed.Figure{}, 1.0
	if r := c.played[n]; c.result() != nil {
		requests, tokens := r.rates()
		requests, output, busy = r.scaleTo(n)*requests, certain(r.scaleTo(n)*tokens), r.busy()
		f.UsersEach = simulate.FourDigits(r.res.Whole.Mean().Seconds() * requests / float64(n))
	}
	spend(c, f, output, busy)
	if m := c.fleet.most; m != nil {
		f.HoldsRate, f.HoldsUsers, f.HoldsUsersLow, f.HoldsUsersHigh = question.Rounded(m.Rate), m.Users, c.fleet.mostLow, c.fleet.mostHigh
		if m.Users == nil && c.task.rate > 0 {
			f.HoldsRate = question.Rounded(m.Share * c.task.rate)
		}
	}
	for _, part := range c.parts(max(1, int64(f.UsersEach+0.5))) {
		f.Parts = append(f.Parts, api.SpeedPart{Name: timing.Identifier(part.Name), MS: *question.Rounded(1000 * part.Seconds),
			Bound: part.Bound})
	}
	return f
}

// meets returns the word for whether the goal is met.
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

// spend fills in the cost and energy of a fleet. busy is the fraction of time during which its servers compute.
func spend(c *contender, f *api.Fleet, output speed.Figure, busy float64) {
	m := c.sim.Question.Job.Machine
	if len(m.Groups) != 1 {
		return
	}
	watts := deviceWatts(c, max(1, int64(f.UsersEach)), busy)
	timing.Figure(watts.Times(float64(f.Devices)), &f.Watts, &f.WattsLow, &f.WattsHigh)
	f.Owned = ownedOrRented(c, c.rent(f.Replicas))
	money := c.money(f.Replicas)
	timing.Figure(money.PerHour, &f.USDPerHour, &f.USDPerHourLow, &f.USDPerHourHigh)
	if money.PerHour.Known() {
		f.Price = priceWords(&money, f.Devices)
	}
	if dollars := c.dollars(f.Replicas); c.task.original.Day != nil && money.PerHour.Known() {
		f.USDPerHourDay = &dollars
	}
	for i := range f.Curve {
		if p := &f.Curve[i]; p.Output > 0 && money.PerHour.Known() {
			p.USDPerMillion = question.Rounded(cost.PerMillion(money, certain(p.Output)).Mid)
		}
	}
	if output.Known() {
		timing.Figure(cost.JoulesPerToken(watts, int(f.Devices), output), &f.JoulesPerToken, &f.JoulesPerTokenLow, &f.JoulesPerTokenHigh)
		timing.Figure(cost.PerMillion(money, output), &f.USDPerMillion, &f.USDPerMillionLow, &f.USDPerMillionHigh)
	}
}

// priceWords describes the source of a price.
func priceWords(r *cost.Rate, devices int64) string {
	if r.Price.Kind != "on-demand" {
		return fmt.Sprintf("bought at $%.0f a device, energy included; %s", float64(r.Price.Purchase),
			cmp.Or(r.Date, r.Price.Note, r.Source))
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

// parts returns the parts of a token's time with the given users per replica.
func (c *contender) parts(users int64) []speed.Part {
	switch s := c.sim; {
	case s.Stream != nil:
		return timing.ByName(c.turns(users).Parts)
	case c.pools != nil:
		return timing.ByName(c.pools.Closed(c.task.loop(users)).Parts)
	default:
		l := c.task.loop(users)
		f := s.Model.Closed(l)
		parts := timing.ByName(f.Parts)
		if x := s.Crossing; x != nil {
			parts = append(parts, speed.Part{Name: "copies", Seconds: x(s.Model.Decoding(l), f.Step), Bound: speed.Network})
		}
		if f.Others > 0 {
			parts = append(parts, speed.Part{Name: "prompts of others", Seconds: f.Others, Bound: speed.Compute})
		}
		return parts
	}
}
