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

// formats returns the formats of weights and KV cache whose quality loss is allowed.
func (s *servers) formats(p *planner.Planner) (out []change.Setting) {
	for _, weights := range s.affordable(p.WeightsAxis(p.Question), s.weightsLoss) {
		for _, cache := range s.affordable(p.CacheAxis(p.Question), s.cacheLoss) {
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

// rememberPrices caches what formats cost, which is the same on every machine.
func (s *servers) rememberPrices(p *planner.Planner) {
	if s.order == nil {
		s.order, s.native = p.Order, p.Question.Request.Weights
	}
}

// affordable returns the allowed settings of an axis of formats, priced by their losses.
func (s *servers) affordable(a planner.Axis, loss func(name string) (points float64, known bool)) (out []change.Setting) {
	for _, x := range a.Settings {
		points, known := 0.0, true
		if x.Set != nil {
			r := api.Request{}
			x.Set(&r)
			points, known = loss(cmp.Or(r.Weights, r.KV))
		}
		if x.Price = points; known && points <= s.affords() || x.Set == nil || s.listed(a.Field) {
			out = append(out, x)
		}
	}
	if f := api.FieldByName(a.Field); len(out) > 1 && !f.Value(&s.asked).IsZero() && !s.listed(a.Field) {
		return out[:1]
	}
	return out
}

// weightsLoss returns the loss of a recipe relative to the published weights. If no loss is published for a model, 8-bit formats
// pass and narrower ones do not, unless any loss is allowed.
func (s *servers) weightsLoss(name string) (points float64, known bool) {
	r, from := dtype.FindRecipe(name), dtype.FindRecipe(s.native)
	if r == nil || from == nil {
		return 0, true
	}
	return s.difference(s.order.Weights(from), s.order.Weights(r))
}

func (s *servers) cacheLoss(name string) (points float64, known bool) {
	f := dtype.FindFormat(name)
	if f == nil {
		return 0, true
	}
	return s.difference(s.order.Cache(dtype.F16, dtype.F16), s.order.Cache(f, f))
}

// difference returns the difference of two ranks in percent of perplexity. Without published losses there is no percentage, and 8
// bits and more are assumed to lose nothing noticeable.
func (s *servers) difference(from, to quality.Rank) (points float64, known bool) {
	switch d := to.Loss() - from.Loss(); {
	case math.IsInf(d, 0), math.IsNaN(d):
		return 0, false
	case to.Loss() >= 0 && from.Loss() >= 0:
		return max(0, d), true
	case to.Bits >= 8:
		return 0, true
	}
	return 0, s.affords() >= 100
}
