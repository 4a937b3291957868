package serve

import (
	"cmp"
	"math"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/internal/planner"
	"github.com/memwall/memwall/internal/planner/change"
	"github.com/memwall/memwall/quality"
)

// formats of weights and cache that cost no more than allowed.
func (g *goalSearch) formats(p *planner.Planner) (out []change.Setting) {
	for _, weights := range g.affordable(p.WeightsAxis(p.Question), g.weightsLoss) {
		for _, cache := range g.affordable(p.CacheAxis(p.Question), g.cacheLoss) {
			out = append(out, change.Setting{Price: weights.Price + cache.Price, Set: func(r *api.Request) {
				for _, set := range []func(*api.Request){weights.Set, cache.Set} {
					if set != nil {
						set(r)
					}
				}
			}})
		}
	}
	return out
}

// rememberPrices what formats cost, which is the same on every machine.
func (g *goalSearch) rememberPrices(p *planner.Planner) {
	if g.order == nil {
		g.order, g.native = p.Order, p.Question.Request.Weights
	}
}

// affordable settings of an axis of formats, whose prices then are their losses.
func (g *goalSearch) affordable(a planner.Axis, loss func(name string) (points float64, known bool)) (out []change.Setting) {
	for _, s := range a.Settings {
		points, known := 0.0, true
		if s.Set != nil {
			r := api.Request{}
			s.Set(&r)
			points, known = loss(cmp.Or(r.Weights, r.KV))
		}
		if s.Price = points; known && points <= g.affords() || s.Set == nil || g.listed(a.Field) {
			out = append(out, s)
		}
	}
	if f := api.FieldByName(a.Field); len(out) > 1 && !f.Value(&g.asked).IsZero() && !g.listed(a.Field) {
		return out[:1]
	}
	return out
}

func (g *goalSearch) listed(field string) bool { return g.among[field] != nil }

// usualLoss of quality that people take for half the bytes: formats of 8 bits stay within it.
const usualLoss = 1.0

func (g *goalSearch) affords() float64 {
	if q := g.goal.QualityLoss; q != nil {
		return *q
	}
	return usualLoss
}

// weightsLoss is what a recipe costs against the published weights. Where nobody published any of a model's losses, formats
// of 8 bits pass and fewer do not, unless any loss is allowed.
func (g *goalSearch) weightsLoss(name string) (points float64, known bool) {
	r, from := dtype.FindRecipe(name), dtype.FindRecipe(g.native)
	if r == nil || from == nil {
		return 0, true
	}
	return g.difference(g.order.Weights(from), g.order.Weights(r))
}

func (g *goalSearch) cacheLoss(name string) (points float64, known bool) {
	f := dtype.FindFormat(name)
	if f == nil {
		return 0, true
	}
	return g.difference(g.order.Cache(dtype.F16, dtype.F16), g.order.Cache(f, f))
}

// difference of two places of an order, in percent of perplexity. Where nobody published a loss there is no percent, and 8
// bits and more are taken to lose nothing that shows.
func (g *goalSearch) difference(from, to quality.Rank) (points float64, known bool) {
	switch d := to.Loss() - from.Loss(); {
	case math.IsInf(d, 0), math.IsNaN(d):
		return 0, false
	case to.Loss() >= 0 && from.Loss() >= 0:
		return max(0, d), true
	case to.Bits >= 8:
		return 0, true
	}
	return 0, g.affords() >= 100
}
