package serve

import (
	"cmp"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/simulate"
)

// dayOf plans the replicas of a fleet over a day; nil if not requested, or if the rate that one replica holds is unknown.
func dayOf(c *contender, f *api.Fleet) *api.DayPlan {
	d := c.task.original.Day
	if d == nil || f.HoldsRate == nil {
		return nil
	}
	out := &api.DayPlan{Each: *f.HoldsRate / float64(f.Replicas), StartS: cmp.Or(d.Start, api.UsualStart), Peak: c.fleet.replicas}
	hours := 24 / float64(len(d.Rates))
	for i, rate := range d.Rates {
		out.Headroom = max(out.Headroom, d.Growth(i, out.StartS))
		n := d.Serving(i, out.Each, out.StartS, out.Peak)
		out.Parts = append(out.Parts, api.DayPart{Hour: simulate.FourDigits(float64(i) * hours), Rate: rate, Replicas: n})
		out.Mean += float64(n) / float64(len(d.Rates))
	}
	out.Mean, out.Headroom, out.Each = simulate.FourDigits(out.Mean), simulate.FourDigits(out.Headroom), simulate.FourDigits(out.Each)
	if rent := c.rent(c.fleet.replicas); rent.PerHour.Known() { // owners of idle devices save only energy
		out.USDFixed, out.USDScaled = question.Rounded(24*rent.PerHour.Mid),
			question.Rounded(24*rent.PerHour.Mid*out.Mean/float64(out.Peak))
	}
	return out
}
