package serve

import (
	"slices"

	"github.com/memwall/memwall/api"
)

// level makes a curve as monotonic as the quantity it shows: with less load times are no longer, and with more load throughput is
// no lower. Over a few thousand requests chance moves a percentile by a few percent, and a run that does not hold ends with a
// draining fleet. The point at the requested load stays as simulated.
func (f *fleetPlan) level() {
	whole := slices.IndexFunc(f.curve, func(p api.CurvePoint) bool { return p.Share == 1 })
	for i := whole - 1; i >= 0; i-- {
		noMore(&f.curve[i], &f.curve[i+1])
	}
	for i := max(0, whole) + 1; i < len(f.curve); i++ {
		noLess(&f.curve[i], &f.curve[i-1])
	}
}

// noMore limits a point at less load to the times of another.
func noMore(p *api.CurvePoint, o *api.CurvePoint) {
	p.TTFT, p.TPOT = each(p.TTFT, o.TTFT, smaller), each(p.TPOT, o.TPOT, smaller)
	p.Rate, p.Output, p.Met = min(p.Rate, o.Rate), min(p.Output, o.Output), p.Met || o.Met
}

// noLess raises a point at more load to the throughput of another.
func noLess(p *api.CurvePoint, o *api.CurvePoint) {
	p.TTFT, p.TPOT = each(p.TTFT, o.TTFT, larger), each(p.TPOT, o.TPOT, larger)
	p.Rate, p.Output, p.Met = max(p.Rate, o.Rate), max(p.Output, o.Output), p.Met && o.Met
}

func smaller(a, b float64) float64 { return min(a, b) }

func larger(a, b float64) float64 { return max(a, b) }

// each combines two sets of percentiles; if only one is present, it is returned.
func each(a, b *api.Percentiles, of func(a, b float64) float64) *api.Percentiles {
	if a == nil || b == nil {
		return a
	}
	return &api.Percentiles{Mean: of(a.Mean, b.Mean), P50: of(a.P50, b.P50), P90: of(a.P90, b.P90), P99: of(a.P99, b.P99)}
}
