package serve

import (
	"slices"

	"github.com/memwall/memwall/api"
)

// level makes a curve as monotone as what it is of: who has less to do is no slower, and who has more serves no less in all. Of a
// few thousand requests chance moves a percentile by a few percent, and a run that does not hold ends with a fleet that empties.
// The load that was asked for stays as it was played.
func (f *fleetPlan) level() {
	whole := slices.IndexFunc(f.curve, func(p api.CurvePoint) bool { return p.Share == 1 })
	for i := whole - 1; i >= 0; i-- {
		noMore(&f.curve[i], &f.curve[i+1])
	}
	for i := max(0, whole) + 1; i < len(f.curve); i++ {
		noLess(&f.curve[i], &f.curve[i-1])
	}
}

// noMore is a point of less load than another's.
func noMore(p *api.CurvePoint, o *api.CurvePoint) {
	p.TTFT, p.TPOT = each(p.TTFT, o.TTFT, smaller), each(p.TPOT, o.TPOT, smaller)
	p.Rate, p.Output, p.Met = min(p.Rate, o.Rate), min(p.Output, o.Output), p.Met || o.Met
}

// noLess is a point of more load than another's.
func noLess(p *api.CurvePoint, o *api.CurvePoint) {
	p.TTFT, p.TPOT = each(p.TTFT, o.TTFT, larger), each(p.TPOT, o.TPOT, larger)
	p.Rate, p.Output, p.Met = max(p.Rate, o.Rate), max(p.Output, o.Output), p.Met && o.Met
}

func smaller(a, b float64) float64 { return min(a, b) }

func larger(a, b float64) float64 { return max(a, b) }

// each of two sets of percentiles; the one that there is where there is one.
func each(a, b *api.Percentiles, of func(a, b float64) float64) *api.Percentiles {
	if a == nil || b == nil {
		return a
	}
	return &api.Percentiles{Mean: of(a.Mean, b.Mean), P50: of(a.P50, b.P50), P90: of(a.P90, b.P90), P99: of(a.P99, b.P99)}
}
