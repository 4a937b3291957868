package score

import (
	"maps"
	"math"
	"slices"
)

// A benchmark's scores, as log-odds above chance, are taken as a line in one ability of the model:
//
//	logit((value - chance) / (100 - chance)) = at + slope × ability
//
// That is the two-parameter model of item response theory (Birnbaum 1968) for tests in place of questions; abilities and lines
// are fitted in turns by least squares. A benchmark with few rows leans on the mean line, a model with few rows on the
// mean ability.

// scale is the line of a benchmark.
type scale struct {
	at, slope float64
	spread    float64 // standard deviation of what is left, in log-odds
}

// usualSpread in log-odds and usualSlope are what a benchmark is taken for before its rows are looked at, at the weight of priorRows.
const (
	usualSpread, usualSlope = 0.4, 1.0
	priorRows               = 2.0
	turns                   = 60
)

func (b *Benchmark) logit(value float64) float64 {
	x := (value - b.Chance) / (100 - b.Chance)
	x = min(max(x, 0.01), 0.99) // at chance and at the top a test tells nothing further
	return math.Log(x / (1 - x))
}

func (b *Benchmark) value(logit float64) float64 {
	return b.Chance + (100-b.Chance)/(1+math.Exp(-logit))
}

// fit gives the line of each benchmark that says something of text; scores of embeddings are of another ability.
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

// standardised abilities of all models have mean 0 and deviation 1.
func standardised(byModel map[string][]*Row, scales map[string]*scale) map[string]float64 {
	out := make(map[string]float64, len(byModel))
	models := slices.Sorted(maps.Keys(byModel)) // sums in one order give the same digits
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

// otherUse is the weight of a benchmark of another use: what is asked for is told first by those of its own.
const otherUse = 0.25

// ability at a use that the rows of a model tell; "" takes all uses alike.
func ability(rows []*Row, scales map[string]*scale, use string) float64 {
	weight, sum := 1.0, 0.0 // one of the mean of all models
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
	s.slope = max(s.slope, 0.1) // a better model does not score less
	s.at = my - s.slope*mx
	left := priorRows * usualSpread * usualSpread
	for _, r := range rows {
		d := b.logit(r.Value) - s.at - s.slope*abilities[r.Model]
		left += d * d
	}
	s.spread = math.Sqrt(left / (n + priorRows))
}
