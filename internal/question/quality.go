package question

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/quality"
)

// Cost of changes of format in quality, by published measurements.

// Judged returns the model in the form of package quality.
func (q *Question) Judged() quality.Model {
	m := quality.Model{ID: q.Resolved.ID}
	if q.Job.Model != nil {
		m.Parameters = q.Job.Model.Params()
	}
	if r := ownRecipe(q.Resolved); r != nil {
		m.Native = r.Name
	}
	if len(q.Request.Measured) > 0 && q.weighed == nil {
		q.weighed = quality.NewOwn(m, q.Request.Measured)
	}
	m.Own = q.weighed
	return m
}

// checkMeasured validates errors given for recipes: known names, relative to the weights.
func checkMeasured(errors map[string]float64) error {
	for _, name := range slices.Sorted(maps.Keys(errors)) {
		e := errors[name]
		bad := func(says, hint string) error {
			return &api.Error{Code: api.BadField, Field: "measured_errors." + api.Shorten(name), Value: fmt.Sprint(e),
				Message: fmt.Sprintf("measured_errors %q = %v %s", api.Shorten(name), e, says), Hint: hint}
		}
		switch r := dtype.FindRecipe(name); {
		case r == nil:
			return bad("is of no recipe that is known", "names of weights, such as q4_k_m; memwall quant FILE --save writes them")
		case r.Name != name:
			return bad("is of a recipe with another name", "call it "+r.Name)
		case !(e > 0 && e <= 10):
			return bad("is not an error relative to the weights", "such as 0.07 for 7 percent")
		}
	}
	return nil
}

// QualityOf returns the cost in quality of going from one plan to another; nil if nothing is published or nothing
// changes. If weights and cache both change, changes of the same metric add up.
func QualityOf(m quality.Model, from, to *api.Request) *api.Quality {
	weights := changed(quality.OfWeights(m, from.Weights, to.Weights))
	cache := changed(quality.OfCache(m, cacheOf(from), cacheOf(to)))
	sameWeights, sameCache := from.Weights == to.Weights, is16Bit(from) && is16Bit(to) || cacheOf(from) == cacheOf(to)
	switch {
	case sameWeights && sameCache:
		return nil
	case sameWeights:
		return cache
	case sameCache:
		return weights
	case weights == nil || cache == nil || weights.Metric != cache.Metric:
		return nil
	}
	sum := *weights
	sum.Low, sum.Mid, sum.High = sum.Low+cache.Low, sum.Mid+cache.Mid, sum.High+cache.High
	sum.Source = fmt.Sprintf("weights: %s; cache: %s", weights.Source, cache.Source)
	sum.Rows += cache.Rows
	return &sum
}

func cacheOf(r *api.Request) quality.Cache { return quality.Cache{K: r.KV, V: cmp.Or(r.KVV, r.KV)} }

// is16Bit reports whether keys and values are kept in 16 bits.
func is16Bit(r *api.Request) bool {
	wide := func(name string) bool {
		f := dtype.FindFormat(name)
		return f != nil && f.Bits() >= 16
	}
	return wide(r.KV) && wide(cmp.Or(r.KVV, r.KV))
}

func changed(e quality.Effect) *api.Quality {
	c := e.Best()
	if c == nil {
		return nil
	}
	return &api.Quality{Metric: c.Metric.Name, Low: c.Low, Mid: c.Mid, High: c.High, LowerIsBetter: c.Metric.LowerIsBetter,
		MeasuredOn: c.OnModel, Near: c.Level.String(), Rows: c.Rows, Source: c.Source.Citation}
}
