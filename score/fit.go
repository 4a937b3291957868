package score

import (
	"maps"
	"math"
	"slices"
)

// A benchmark's scores, as log-odds above chance, are modeled as linear in one ability of the model:
//
//	logit((value - chance) / (100 - chance)) = at + slope × ability
//
// This is the two-parameter model of item response theory (Birnbaum 1968), with tests in place of questions; abilities
// and lines are fitted alternately by least squares. A benchmark with few rows is pulled toward the mean line, a model
// with few rows toward the mean ability.

// scale is the line of a benchmark.
type scale struct {
	at, slope float64
	spread    float64 // standard deviation of the residuals, in log-odds
}

// usualSpread (in log-odds) and usualSlope are the prior of a benchmark, with the weight of priorRows rows.
const (
	usualSpread, usualSlope = 0.4, 1.0
	priorRows               = 2.0
	turns                   = 60
)

func (b *Benchmark) logit(value float64) float64 {
	x := (value - b.Chance) / (100 - b.Chance)
	x = min(max(x, 0.01), 0.99) // near chance and near the top a test says nothing more
	return math.Log(x / (1 - x))
}

func (b *Benchmark) value(logit float64) float64 {
	return b.Chance + (100-b.Chance)/(1+math.Exp(-logit))
}

// fit returns the line of each text benchmark; embedding benchmarks measure another ability.
func (t *table) fit() map[string]*scale {
	out := map[string]*scale{}
	for i := range t.benchmarks {
		if b := &t.benchmarks[i]; !slices.Contains(b.Uses, Embedding) {
			out[b.ID] = &scale{slope: usualSlope, spread: usualSpread}
		}
	}
	byModel, byBenchmark := map[string][]*Row{}, map[*Benchmark][]*Row{}
	for i := range t.rows {
		if r := &t.rows[i]; out[r.Benchmark.ID] != nil {
			byModel[r.Model] = append(byModel[r.Model], r)
			byBenchmark[r.Benchmark] = append(byBenchmark[r.Benchmark], r)
		}
	}
	for range turns {
		abilities := standardised(byModel, out)
		for b, rows := range byBenchmark {
			out[b.ID].through(b, rows, abilities)
		}
	}
	return out
}

// standardised returns the abilities of all models, scaled to mean 0 and standard deviation 1.
func standardised(byModel map[string][]*Row, scales map[string]*scale) map[string]float64 {
	out := make(map[string]float64, len(byModel))
	models := slices.Sorted(maps.Keys(byModel)) // fixed order of summation, for reproducible digits
	var sum, squares float64
	for _, m := range models {
		a := ability(byModel[m], scales, "")
		out[m] = a
		sum, squares = sum+a, squares+a*a
	}
	n := float64(len(models))
	mean := sum / n
	deviation := math.Sqrt(squares/n - mean*mean)
	for _, m := range models {
		out[m] = (out[m] - mean) / max(deviation, 1e-9)
	}
	return out
}

// otherUse is the weight of benchmarks of other use cases.
const otherUse = 0.25

// ability returns a model's ability at a use case from its rows; "" weighs all use cases alike.
func ability(rows []*Row, scales map[string]*scale, use string) float64 {
	weight, sum := 1.0, 0.0 // prior: one row at the mean of all models
	for _, r := range rows {
		s := scales[r.Benchmark.ID]
		w := s.slope * s.slope / (s.spread * s.spread)
		if use != "" && !slices.Contains(r.Benchmark.Uses, use) {
			w *= otherUse
		}
		weight, sum = weight+w, sum+w*(r.Benchmark.logit(r.Value)-s.at)/s.slope
	}
	return sum / weight
}

// through fits the line of a benchmark to its rows.
func (s *scale) through(b *Benchmark, rows []*Row, abilities map[string]float64) {
	var n, x, y, xx, xy float64
	for _, r := range rows {
		a, l := abilities[r.Model], b.logit(r.Value)
		n, x, y, xx, xy = n+1, x+a, y+l, xx+a*a, xy+a*l
	}
	if n == 0 {
		return
	}
	mx, my := x/n, y/n
	s.slope = (xy - n*mx*my + priorRows*usualSlope) / (xx - n*mx*mx + priorRows)
	s.slope = max(s.slope, 0.1) // a better model never scores lower
	s.at = my - s.slope*mx
	left := priorRows * usualSpread * usualSpread
	for _, r := range rows {
		d := b.logit(r.Value) - s.at - s.slope*abilities[r.Model]
		left += d * d
	}
	s.spread = math.Sqrt(left / (n + priorRows))
}
