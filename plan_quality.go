package memwall

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/quality"
)

// What changes of formats cost in quality, by published measurements.

// Quality is how a metric changes, in percent of what it was: over the models and programs that were measured from
// Low to High, with Mid in the middle. It is absent where nobody measured.
type Quality struct {
	Metric string  `json:"metric"`
	Low    float64 `json:"low"`
	Mid    float64 `json:"mid"`
	High   float64 `json:"high"`
	// Worse: a positive change of this metric is a loss.
	LowerIsBetter bool `json:"lower_is_better"`
	// MeasuredOn is the model of the row in the middle, Near how near the models are to the one that was asked about:
	// model, family or size.
	MeasuredOn string `json:"measured_on"`
	Near       string `json:"near"`
	Rows       int    `json:"rows"`
	Source     string `json:"source"`
}

// judged is a model as quality knows it.
func (q *question) judged() quality.Model {
	m := quality.Model{ID: q.resolved.ID}
	if q.job.Model != nil {
		m.Parameters = q.job.Model.Params()
	}
	if r := q.own(); r != nil {
		m.Native = r.Name
	}
	if len(q.request.Measured) > 0 && q.weighed == nil {
		q.weighed = quality.NewOwn(m, q.request.Measured)
	}
	m.Own = q.weighed
	return m
}

// checkMeasured: errors of recipes that are known, each a share of the weights.
func checkMeasured(errors map[string]float64) error {
	for _, name := range slices.Sorted(maps.Keys(errors)) {
		e := errors[name]
		bad := func(says, hint string) error {
			return &Error{Code: BadField, Field: "measured_errors." + shorten(name), Value: fmt.Sprint(e), Message: fmt.Sprintf("measured_errors %q = %v %s", shorten(name), e, says), Hint: hint}
		}
		switch r := dtype.FindRecipe(name); {
		case r == nil:
			return bad("is of no recipe that is known", "names of weights, such as q4_k_m; memwall quant FILE --save writes them")
		case r.Name != name:
			return bad("is of a recipe with another name", "call it "+r.Name)
		case !(e > 0 && e <= 10):
			return bad("is no error relative to the weights", "such as 0.07 for 7 percent")
		}
	}
	return nil
}

// qualityOf is what going from one plan to another costs; nil where nothing is published, or nothing changes. Where
// weights and cache both change, their changes of the same metric add up.
func qualityOf(m quality.Model, from, to *Request) *Quality {
	weights := changed(quality.OfWeights(m, from.Weights, to.Weights))
	cache := changed(quality.OfCache(m, cacheOf(from), cacheOf(to)))
	sameWeights, sameCache := from.Weights == to.Weights, sixteen(from) && sixteen(to) || cacheOf(from) == cacheOf(to)
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

func cacheOf(r *Request) quality.Cache { return quality.Cache{K: r.KV, V: cmp.Or(r.KVV, r.KV)} }

// sixteen: keys and values are kept in 16 bits.
func sixteen(r *Request) bool {
	wide := func(name string) bool {
		f := dtype.FindFormat(name)
		return f != nil && f.Bits() >= 16
	}
	return wide(r.KV) && wide(cmp.Or(r.KVV, r.KV))
}

func changed(e quality.Effect) *Quality {
	c := e.Best()
	if c == nil {
		return nil
	}
	return &Quality{Metric: c.Metric.Name, Low: c.Low, Mid: c.Mid, High: c.High, LowerIsBetter: c.Metric.LowerIsBetter, MeasuredOn: c.OnModel, Near: c.Level.String(), Rows: c.Rows, Source: c.Source.Citation}
}

// loss is the price in quality of weights stored by one recipe instead of another.
func (p *planner) loss(from, to string) float64 {
	return max(0, p.recipeLoss(to)-p.recipeLoss(from))
}

func (p *planner) recipeLoss(name string) float64 {
	if r := dtype.FindRecipe(name); r != nil {
		return p.order.Weights(r).Loss()
	}
	return 0
}

// cacheLoss is the same of the format of keys and values.
func (p *planner) cacheLoss(from, to string) float64 {
	return max(0, p.formatLoss(to)-p.formatLoss(from))
}

func (p *planner) formatLoss(name string) float64 {
	if f := dtype.FindFormat(name); f != nil {
		return p.order.Cache(f, f).Loss()
	}
	return 0
}
