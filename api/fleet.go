package api

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/memwall/memwall/cost"
	"github.com/memwall/memwall/unit"
	"github.com/memwall/memwall/workload"
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
	// Runs are the measured ones of the same device, engine and layout that the times rest on. Beside fleets with some, one
	// without any is ranked by its slow edge.
	Runs int64 `json:"measured_runs"`
	// UsersEach are the users, or the requests that run at once, of a replica on average.
	UsersEach float64 `json:"users_per_replica"`
	// HoldsRate and HoldsUsers are the most of the load that the fleet was seen to hold within the goal.
	HoldsRate  *float64 `json:"holds_requests_per_s,omitempty"`
	HoldsUsers *int64   `json:"holds_users,omitempty"`
	// HoldsUsersLow and HoldsUsersHigh are as many at the slow and at the fast edge of the band, where the most users are asked for.
	HoldsUsersLow  *int64 `json:"holds_users_low,omitempty"`
	HoldsUsersHigh *int64 `json:"holds_users_high,omitempty"`

	USDPerHour        *float64 `json:"usd_per_hour"`
	USDPerHourLow     *float64 `json:"usd_per_hour_low,omitempty"`
	USDPerHourHigh    *float64 `json:"usd_per_hour_high,omitempty"`
	USDPerHourDay     *float64 `json:"usd_per_hour_of_day,omitempty"` // averaged over the day, with as many replicas as each part takes
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

// Day is how the load goes over a day.
type Day struct {
	Rates []float64 `json:"rates" doc:"requests a second in equal parts of a day, such as 24 hours"`
	// Start is how long it takes until a new replica serves.
	Start float64 `json:"start_s,omitempty" doc:"seconds until a new replica serves: to get a machine, load the weights, record graphs"`
}

// DayPlan is how many replicas each part of a day takes, of a fleet that grows and shrinks with the load.
type DayPlan struct {
	// Each is how many requests a second one replica holds within the goal, as played.
	Each  float64   `json:"requests_per_s_per_replica"`
	Parts []DayPart `json:"parts"`
	// Headroom is the share by which the load grows at most while a replica starts.
	Headroom float64 `json:"headroom"`
	StartS   float64 `json:"start_s"`
	Peak     int64   `json:"peak_replicas"`
	Mean     float64 `json:"mean_replicas"`
	// Dollars of a day: with as many replicas as the peak takes all day, and with as many as each part takes.
	USDFixed  *float64 `json:"usd_fixed"`
	USDScaled *float64 `json:"usd_scaled"`
}

// DayPart is a part of a day.
type DayPart struct {
	Hour     float64 `json:"hour"`
	Rate     float64 `json:"requests_per_s"`
	Replicas int64   `json:"replicas"`
}

// Check refuses a day that is none.
func (d *Day) Check() error {
	if d == nil {
		return nil
	}
	bad := func(field string, value any, message, hint string) error {
		return &Error{Code: BadField, Field: "day." + field, Value: fmt.Sprint(value),
			Message: fmt.Sprintf("day.%s = %v %s", field, value, message), Hint: hint}
	}
	if n := len(d.Rates); n == 0 || n > mostParts {
		return bad("rates", n, fmt.Sprintf("parts are not from 1 to %d", mostParts), "24 rates, one an hour")
	}
	peak := 0.0
	for _, x := range d.Rates {
		if !(x >= 0 && x <= workload.MaxRate) {
			return bad("rates", x, "is no rate from 0 to a million a second", "requests a second, such as 4")
		}
		peak = max(peak, x)
	}
	switch {
	case peak == 0:
		return bad("rates", 0, "is all of the day: nobody asks", "requests a second, such as 4")
	case !(d.Start >= 0 && d.Start <= secondsOfDay):
		return bad("start_s", d.Start, "is no time from 0 to a day", "seconds, such as 300")
	}
	return nil
}

// Share of a fleet's replicas that serve averaged over the day, where as many as there are just hold its peak; all of them
// where nobody says how the load goes.
func (d *Day) Share(replicas int64) float64 {
	if d == nil {
		return 1
	}
	each := slices.Max(d.Rates) / float64(replicas)
	sum := 0.0
	for i := range d.Rates {
		sum += float64(d.Serving(i, each, cmp.Or(d.Start, UsualStart), replicas))
	}
	return sum / float64(len(d.Rates)) / float64(replicas)
}

// Serving are the replicas of a part of the day, each of which holds so many requests a second.
func (d *Day) Serving(i int, each, start float64, most int64) int64 {
	n := math.Ceil(d.Rates[i] * (1 + d.Growth(i, start)) / each * (1 - 1e-12))
	return max(1, min(int64(n), most))
}

// Growth of the load from a part to the next while a replica starts, as a share; parts follow each other in a straight line.
func (d *Day) Growth(i int, start float64) float64 {
	n := len(d.Rates)
	now, next := d.Rates[i], d.Rates[(i+1)%n]
	if now <= 0 || next <= now {
		return 0
	}
	part := secondsOfDay / float64(n)
	return (next/now - 1) * min(1, start/part)
}

const (
	mostParts    = 1440 // of a day: its minutes
	secondsOfDay = 86_400
	UsualStart   = 300 // seconds until a replica serves, where nobody says: assumed
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

// Check refuses terms that are none.
func (o *Ownership) Check() error {
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
		{"overhead", o.Overhead, o.Overhead >= 1 && o.Overhead <= 10,
			"watts that the site draws for each watt of the devices, such as 1.4"},
		{"usd_per_device", o.Purchase, o.Purchase >= 0 && o.Purchase <= 1e8, "the price of one device, in dollars"},
	} {
		if !f.ok {
			return &Error{Code: BadField, Field: "goal.own." + f.name, Value: fmt.Sprint(f.value),
				Message: fmt.Sprintf("goal.own.%s = %v is missing or out of range", f.name, f.value), Hint: f.hint}
		}
	}
	return nil
}

// Terms of an owner as package cost knows them.
func (o *Ownership) Terms() cost.Terms {
	return cost.Terms{LifetimeHours: o.LifetimeHours, PerKWh: unit.USD(o.PerKWh), Overhead: o.Overhead, Purchase: unit.USD(o.Purchase)}
}
