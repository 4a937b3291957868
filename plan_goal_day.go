package memwall

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/memwall/memwall/workload"
)

// Day is how the load goes over a day.
type Day struct {
	Rates []float64 `json:"rates" doc:"requests a second in equal parts of a day, such as 24 hours"`
	// Start is how long it takes until a new replica serves.
	Start float64 `json:"start_s,omitempty" doc:"seconds until a new replica serves: to get a machine, load the weights, record graphs"`
}

const (
	mostParts    = 1440 // of a day: its minutes
	usualStart   = 300  // seconds until a replica serves, where nobody says: assumed
	secondsOfDay = 86_400
)

func (d *Day) check() error {
	if d == nil {
		return nil
	}
	bad := func(field string, value any, message, hint string) error {
		return &Error{Code: BadField, Field: "day." + field, Value: fmt.Sprint(value), Message: fmt.Sprintf("day.%s = %v %s", field, value, message), Hint: hint}
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

// day plans the replicas of a fleet over a day; nil where nobody asked, or the rate that one replica holds is not known.
func (g *goalSearch) day(c *contender, f *Fleet) *DayPlan {
	d := g.original.Day
	if d == nil || f.HoldsRate == nil {
		return nil
	}
	out := &DayPlan{Each: *f.HoldsRate / float64(f.Replicas), StartS: cmp.Or(d.Start, usualStart), Peak: c.fleet.replicas}
	hours := 24 / float64(len(d.Rates))
	for i, rate := range d.Rates {
		out.Headroom = max(out.Headroom, d.growth(i, out.StartS))
		n := d.serving(i, out.Each, out.StartS, out.Peak)
		out.Parts = append(out.Parts, DayPart{four(float64(i) * hours), rate, n})
		out.Mean += float64(n) / float64(len(d.Rates))
	}
	out.Mean, out.Headroom, out.Each = four(out.Mean), four(out.Headroom), four(out.Each)
	if rent := g.rent(c, c.fleet.replicas); rent.PerHour.Known() { // who owns devices saves nothing by leaving them idle but energy
		out.USDFixed, out.USDScaled = rounded(24*rent.PerHour.Mid), rounded(24*rent.PerHour.Mid*out.Mean/float64(out.Peak))
	}
	return out
}

// share of a fleet's replicas that serve in the mean of the day, where as many as there are just hold its peak; all of them
// where nobody says how the load goes.
func (d *Day) share(replicas int64) float64 {
	if d == nil {
		return 1
	}
	each := slices.Max(d.Rates) / float64(replicas)
	sum := 0.0
	for i := range d.Rates {
		sum += float64(d.serving(i, each, cmp.Or(d.Start, usualStart), replicas))
	}
	return sum / float64(len(d.Rates)) / float64(replicas)
}

// serving are the replicas of a part of the day, each of which holds so many requests a second.
func (d *Day) serving(i int, each, start float64, most int64) int64 {
	n := math.Ceil(d.Rates[i] * (1 + d.growth(i, start)) / each * (1 - 1e-12))
	return max(1, min(int64(n), most))
}

// growth of the load from a part to the next while a replica starts, as a share; parts follow each other in a straight line.
func (d *Day) growth(i int, start float64) float64 {
	n := len(d.Rates)
	now, next := d.Rates[i], d.Rates[(i+1)%n]
	if now <= 0 || next <= now {
		return 0
	}
	part := secondsOfDay / float64(n)
	return (next/now - 1) * min(1, start/part)
}
