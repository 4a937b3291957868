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

// Fleet is a server replicated as often as a load requires, with its cost.
type Fleet struct {
	Hardware string `json:"hardware"` // one replica's devices
	Replicas int64  `json:"replicas"`
	Devices  int64  `json:"devices"` // of all replicas
	// Meets says whether the fleet meets the goal: yes means even if every step takes as long as at the slow edge of its
	// band, likely only at the middle of the band; no; or estimated if the load was not simulated.
	Meets string `json:"meets"`
	// Sure is the number of replicas that meet the goal even at the slow edge; absent if not determined or if no nearby
	// number does.
	Sure *int64 `json:"sure_replicas,omitempty"`
	// Runs counts the measurements of the same device, engine and layout behind the predicted times. Next to fleets with
	// measurements, one without is ranked by its slow edge.
	Runs int64 `json:"measured_runs"`
	// UsersEach is the average number of users, or of concurrent requests, per replica.
	UsersEach float64 `json:"users_per_replica"`
	// HoldsRate and HoldsUsers are the largest load that the fleet held within the goal in simulation.
	HoldsRate  *float64 `json:"holds_requests_per_s,omitempty"`
	HoldsUsers *int64   `json:"holds_users,omitempty"`
	// HoldsUsersLow and HoldsUsersHigh are the same at the slow and fast edges of the band, set when the request asks
	// for the most users.
	HoldsUsersLow  *int64 `json:"holds_users_low,omitempty"`
	HoldsUsersHigh *int64 `json:"holds_users_high,omitempty"`

	USDPerHour        *float64 `json:"usd_per_hour"`
	USDPerHourLow     *float64 `json:"usd_per_hour_low,omitempty"`
	USDPerHourHigh    *float64 `json:"usd_per_hour_high,omitempty"`
	USDPerHourDay     *float64 `json:"usd_per_hour_of_day,omitempty"` // averaged over the day, scaling replicas with the load
	USDPerMillion     *float64 `json:"usd_per_million_tokens"`        // output tokens, at the load
	USDPerMillionLow  *float64 `json:"usd_per_million_tokens_low,omitempty"`
	USDPerMillionHigh *float64 `json:"usd_per_million_tokens_high,omitempty"`
	Price             string   `json:"price,omitempty"`
	Owned             *Owned   `json:"owned,omitempty"`

	Watts              *float64 `json:"watts"` // of all devices, at the load
	WattsLow           *float64 `json:"watts_low,omitempty"`
	WattsHigh          *float64 `json:"watts_high,omitempty"`
	JoulesPerToken     *float64 `json:"joules_per_token"`
	JoulesPerTokenLow  *float64 `json:"joules_per_token_low,omitempty"`
	JoulesPerTokenHigh *float64 `json:"joules_per_token_high,omitempty"`

	// Parts break down the time of a decode step in steady state with this many users.
	Parts []SpeedPart  `json:"parts,omitempty"`
	Curve []CurvePoint `json:"curve,omitempty"`
}

// Day describes how the load varies over a day.
type Day struct {
	Rates []float64 `json:"rates" doc:"requests a second in equal parts of a day, such as 24 hours"`
	// Start is the time in seconds until a new replica serves requests.
	Start float64 `json:"start_s,omitempty" doc:"seconds until a new replica serves: to get a machine, load the weights, record graphs"`
}

// DayPlan is the number of replicas needed in each part of a day by a fleet that scales with the load.
type DayPlan struct {
	// Each is the request rate that one replica holds within the goal, in simulation.
	Each  float64   `json:"requests_per_s_per_replica"`
	Parts []DayPart `json:"parts"`
	// Headroom is the largest relative growth of the load while a replica starts.
	Headroom float64 `json:"headroom"`
	StartS   float64 `json:"start_s"`
	Peak     int64   `json:"peak_replicas"`
	Mean     float64 `json:"mean_replicas"`
	// Dollars per day: with the peak's replicas all day, and with each part's own.
	USDFixed  *float64 `json:"usd_fixed"`
	USDScaled *float64 `json:"usd_scaled"`
}

// DayPart is a part of a day.
type DayPart struct {
	Hour     float64 `json:"hour"`
	Rate     float64 `json:"requests_per_s"`
	Replicas int64   `json:"replicas"`
}

// Check validates the day.
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
			return bad("rates", x, "is not a rate from 0 to a million a second", "requests a second, such as 4")
		}
		peak = max(peak, x)
	}
	switch {
	case peak == 0:
		return bad("rates", 0, "covers the whole day: there are no requests", "requests a second, such as 4")
	case !(d.Start >= 0 && d.Start <= secondsOfDay):
		return bad("start_s", d.Start, "is not a time from 0 to a day", "seconds, such as 300")
	}
	return nil
}

// Share returns the average share of the given replicas that are needed over the day, if together they just hold its
// peak. It is 1 if no profile is given.
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

// Serving returns the number of replicas needed in part i of the day, at most most, if each holds the given request
// rate.
func (d *Day) Serving(i int, each, start float64, most int64) int64 {
	n := math.Ceil(d.Rates[i] * (1 + d.Growth(i, start)) / each * (1 - 1e-12))
	return max(1, min(int64(n), most))
}

// Growth returns the relative growth of the load from part i to the next during a replica's start, interpolating
// linearly between parts.
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
	mostParts    = 1440 // minutes in a day
	secondsOfDay = 86_400
	UsualStart   = 300 // seconds until a replica serves, by default: assumed
)

// CurvePoint is the performance of a fleet at one load.
type CurvePoint struct {
	// Share is the fraction of the requested load, Rate and Users the load itself.
	Share float64      `json:"share"`
	Rate  float64      `json:"requests_per_s"`
	Users *int64       `json:"users,omitempty"`
	TTFT  *Percentiles `json:"ttft_ms"`
	TPOT  *Percentiles `json:"tpot_ms"`
	// Output is in output tokens a second. USDPerMillion is the cost of a million of them: with hourly billing, an idle
	// fleet pays more for each.
	Output        float64  `json:"output_tokens_per_s"`
	USDPerMillion *float64 `json:"usd_per_million_tokens"`
	Met           bool     `json:"met"`
}

// Owned compares owning the devices with renting them.
type Owned struct {
	USDPerHour     *float64 `json:"usd_per_hour"`
	USDPerHourLow  *float64 `json:"usd_per_hour_low,omitempty"`
	USDPerHourHigh *float64 `json:"usd_per_hour_high,omitempty"`
	// Purchase is the price of all devices. BreakEvenHours is the use after which renting has cost as much as buying;
	// absent if renting never costs more than the energy, or no rent is known.
	Purchase       float64  `json:"usd_purchase"`
	EnergyPerHour  float64  `json:"usd_energy_per_hour"`
	BreakEvenHours *float64 `json:"break_even_hours"`
	// Cheaper says whether buying or renting is cheaper over the whole lifetime.
	Cheaper string `json:"cheaper,omitempty"`
	Price   string `json:"price,omitempty"`
}

// Check validates the terms of ownership.
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

// Terms returns the terms of ownership in the form of package cost.
func (o *Ownership) Terms() cost.Terms {
	return cost.Terms{LifetimeHours: o.LifetimeHours, PerKWh: unit.USD(o.PerKWh), Overhead: o.Overhead, Purchase: unit.USD(o.Purchase)}
}
