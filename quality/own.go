package quality

import (
	"fmt"
	"math"
	"strconv"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/stat"
)

// Own holds errors measured on the model's own weights, relative to their root mean square, by recipe. They override
// published rows of the recipes they name.
type Own struct {
	Errors map[string]float64
	scale  *scale // converts errors to perplexity; nil if no published row allows it
}

// scale is the percentage of perplexity for a squared relative error of 1. Perplexity grows with the squared relative
// error of the weights (arXiv:2411.17525, theorem 1); the factor differs between models and is taken from published
// rows.
type scale struct {
	low, mid, high float64
	rows           int
	like           *Change // the median row
}

// NewOwn returns the Own of a model with the given errors.
func NewOwn(m Model, errors map[string]float64) *Own {
	if len(errors) == 0 {
		return nil
	}
	return &Own{errors, published().scale(m, errors)}
}

// scale fits the factor for a model to the recipes with both a measured error and a published loss above the noise.
func (t *table) scale(m Model, errors map[string]float64) *scale {
	type slope struct {
		percent float64
		like    *Change
	}
	m.Own = nil
	var all []slope
	for name, e := range errors {
		if c := t.ofWeights(m, dtype.BF16.Name, name).Perplexity; e > 0 && c.ofWeightsAlone() {
			all = append(all, slope{c.Mid / (e * e), c})
		}
	}
	if len(all) == 0 {
		return nil
	}
	stable.Sort(all, func(a, b slope) int {
		if a.percent < b.percent {
			return -1
		}
		return 1
	})
	n := len(all)
	mid := stat.OfRanks(int64(n), 0.5, func(i int64) float64 { return all[i].percent })
	return &scale{low: all[0].percent, mid: mid, high: all[n-1].percent, rows: n, like: all[stat.MedianRow(n)].like}
}

// ofWeightsAlone reports whether a loss is above the noise and does not include activations.
func (c *Change) ofWeightsAlone() bool {
	return c != nil && c.Metric.Name == decisive && c.Low > 0 && c.Format.Activations == 0
}

// errorOf returns the error of a recipe, 0 if it keeps 16 bits or the vendor's own format.
func (o *Own) errorOf(m *Model, name string) (e float64, ok bool) {
	r := dtype.FindRecipe(name)
	if o == nil || r == nil {
		return 0, false
	}
	if Wide(r) || r.Name == m.Native {
		return 0, true
	}
	e, ok = o.Errors[r.Name]
	return e, ok
}

// OwnError is the metric of errors that cannot be converted to perplexity.
const OwnError = "error-weights"

var ownMetric = &Metric{Name: OwnError, Kind: Divergence, LowerIsBetter: true}

// change returns the change between two recipes from their measured errors; nil if either was not measured.
func (o *Own) change(m *Model, from, to string) *Change {
	a, okA := o.errorOf(m, from)
	b, okB := o.errorOf(m, to)
	if !okA || !okB || a == b {
		return nil
	}
	said := "measured on these weights: an error of " + strconv.FormatFloat(100*b, 'g', 3, 64) + " %"
	c := &Change{Metric: ownMetric, Rows: 1, Models: 1, OnModel: "these weights", Level: Weighed,
		Source: &Source{ID: "own", Citation: said}}
	if o.scale == nil {
		c.Mid = 100 * (b - a)
		c.Low, c.High = c.Mid, c.Mid
		return c
	}
	s, grown := o.scale, b*b-a*a
	c.Metric, c.Rows = s.like.Metric, s.rows
	c.Mid = s.mid * grown
	c.Low, c.High = min(s.low*grown, s.high*grown), max(s.low*grown, s.high*grown)
	c.Source.Citation += fmt.Sprintf("; its square is worth what %d published rows of such models say (%s)", s.rows, s.like.Source.Citation)
	return c
}

// place ranks an error that cannot be converted to perplexity: as far from others as its bits are fewer.
func (c *Change) place() float64 { return math.Log2(max(c.Mid/100, 1e-9)) }
