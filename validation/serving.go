package validation

import "github.com/memwall/memwall/validation/packed"

// Predictions of each run at fixed concurrency by coefficients that were fitted without it: without any run of its
// model on its device, and without any of its model. The fit (validation/fit/serving) writes them.
const servingFolds packed.File = "rows/serving-folds.tsv"

// The measures of serving. The coefficients of each comparison never saw the row.
var (
	tokenPlans  = Measure{Name: "serving TPOT", About: "time of an output token at fixed concurrency, its model on its device left out of the fit", Target: 0.10}
	tokenModels = Measure{Name: "serving TPOT, unseen model", About: "time of an output token, its model left out of the fit", Target: 0.10}
	firstPlans  = Measure{Name: "serving TTFT", About: "time to the first token at fixed concurrency, its model on its device left out of the fit", Target: 0.20}
	firstModels = Measure{Name: "serving TTFT, unseen model", About: "time to the first token, its model left out of the fit", Target: 0.20}
	tokenPools  = Measure{Name: "disaggregated TPOT", About: "time of an output token where prompts are computed by other workers, its model on its device left out of the fit", Target: 0.10}
	firstPools  = Measure{Name: "disaggregated TTFT", About: "time to the first token of such runs, their model on their device left out of the fit", Target: 0.20}
)

// ServingMeasures are the measures in the order of the report.
var ServingMeasures = []*Measure{&tokenPlans, &tokenModels, &firstPlans, &firstModels, &tokenPools, &firstPools}

// servingRefit says how predictions of rows that have none are made.
const servingRefit = "no fit was made without it: go run ./validation/fit/serving"

// servingFigures are the measures of a row in the order of servingFolds, each with its figure, in milliseconds: of
// plans with one kind of worker, and with two.
var servingFigures = []struct {
	measure, pools *Measure
	figure         string
}{{&tokenPlans, &tokenPools, "tpot_ms"}, {&firstPlans, &firstPools, "ttft_ms"}, {&tokenModels, nil, "tpot_ms"},
	{&firstModels, nil, "ttft_ms"}}

// CompareServing compares the stored predictions with the measurements of the set "serving".
func CompareServing(sets []Set) ([]Comparison, error) {
	f, err := readFolds(servingFolds, 3*len(servingFigures))
	if err != nil {
		return nil, err
	}
	var out []Comparison
	for i := range sets {
		if sets[i].Name != "serving" {
			continue
		}
		for j := range sets[i].Rows {
			out = append(out, f.serving(&sets[i].Rows[j])...)
		}
	}
	return out, nil
}

func (f folds) serving(r *Row) (out []Comparison) {
	missing := servingRefit
	if !r.Fit {
		missing = r.Note
	}
	for i, x := range servingFigures {
		m := x.measure
		if r.Ask.Disaggregated != nil {
			m = x.pools
		}
		if v, ok := r.Got[x.figure]; ok && m != nil {
			c := f.compare(Comparison{Measure: m, Row: r, Figure: x.figure, Measured: v}, 3*i, missing)
			c.asShipped(servedFigures[x.figure])
			out = append(out, c)
		}
	}
	return out
}
