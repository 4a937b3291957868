package quality

import (
	"fmt"
	"math"
	"strconv"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/stat"
)

// Own are errors that were measured on the model's own weights: relative, of the root mean square, by recipe. They stand
// in place of published rows of the recipes that they name.
type Own struct {
	Errors map[string]float64
	scale  *scale // what an error is worth; nil where no published row tells
}

// scale is percent of perplexity for an error whose square is 1. Perplexity grows with the squared relative error of the
// weights (arXiv:2411.17525, theorem 1); by how much differs between models, and published rows tell.
type scale struct {
	low, mid, high float64
	rows           int
	like           *Change // the row in the middle
}

// NewOwn errors of a model.
func NewOwn(m Model, errors map[string]float64) *Own {
	if len(errors) == 0 {
		return nil
	}
	return &Own{errors, published().scale(m, errors)}
}

// scale of a model from the recipes that have both a measured error and a published loss that is more than noise.
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

// ofWeightsAlone: a loss that is more than noise, and not of activations too.
func (c *Change) ofWeightsAlone() bool {
	return c != nil && c.Metric.Name == decisive && c.Low > 0 && c.Format.Activations == 0
}

// errorOf is the error of a recipe, 0 where it keeps 16 bits or what the makers publish.
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

// OwnError is the metric of errors that no published row turns into perplexity.
const OwnError = "error-weights"

var ownMetric = &Metric{Name: OwnError, Kind: Divergence, LowerIsBetter: true}

// change from one recipe to another by what both cost these weights; nil where one was not measured.
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

// place of an error that is worth no known perplexity: as far below others as its bits are fewer.
func (c *Change) place() float64 { return math.Log2(max(c.Mid/100, 1e-9)) }
