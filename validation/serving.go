package validation

import (
	"bufio"
	_ "embed"
	"fmt"
	"strings"
)

// Predictions of each run at fixed concurrency by coefficients that were fitted without it: without any run of its
// model on its device, and without any of its model. The fit (validation/fit/serving) writes them.
//
//go:embed rows/serving-folds.tsv
var servingFolds string

// The measures of serving. The coefficients of each comparison never saw the row.
var (
	tokenPlans  = Measure{Name: "serving TPOT", About: "time of an output token at fixed concurrency, its model on its device left out of the fit", Target: 0.10}
	tokenModels = Measure{Name: "serving TPOT, unseen model", About: "time of an output token, its model left out of the fit", Target: 0.10}
	firstPlans  = Measure{Name: "serving TTFT", About: "time to the first token at fixed concurrency, its model on its device left out of the fit", Target: 0.20}
	firstModels = Measure{Name: "serving TTFT, unseen model", About: "time to the first token, its model left out of the fit", Target: 0.20}
)

// ServingMeasures in the order of the report.
var ServingMeasures = []*Measure{&tokenPlans, &tokenModels, &firstPlans, &firstModels}

// servingFold is how a row was predicted by fits that lacked it, in milliseconds.
type servingFold struct{ tokenPlan, firstPlan, tokenModel, firstModel Range }

// CompareServing puts the stored predictions beside the measurements of the set "serving".
func CompareServing(sets []Set) ([]Comparison, error) {
	folds, err := readServingFolds(servingFolds)
	if err != nil {
		return nil, err
	}
	var out []Comparison
	for i := range sets {
		if sets[i].Name != "serving" {
			continue
		}
		for j := range sets[i].Rows {
			out = append(out, servingRow(&sets[i].Rows[j], folds)...)
		}
	}
	return out, nil
}

func servingRow(r *Row, folds map[int]servingFold) (out []Comparison) {
	f, ok := folds[r.Line]
	for _, x := range []struct {
		m      *Measure
		figure string
		ours   Range
	}{{&tokenPlans, "tpot_ms", f.tokenPlan}, {&tokenModels, "tpot_ms", f.tokenModel}, {&firstPlans, "ttft_ms", f.firstPlan}, {&firstModels, "ttft_ms", f.firstModel}} {
		v, has := r.Got[x.figure]
		if !has {
			continue
		}
		c := Comparison{Measure: x.m, Row: r, Figure: x.figure, Measured: v, Ours: x.ours}
		switch {
		case r.Refused != "":
			c.Refused = r.Refused
		case !r.Fit:
			c.Refused = r.Note
		case !ok:
			c.Refused = "no fit was made without it: go run ./validation/fit/serving"
		default:
			c.judge()
		}
		out = append(out, c)
	}
	return out
}

func readServingFolds(text string) (map[int]servingFold, error) {
	out := map[int]servingFold{}
	scan := bufio.NewScanner(strings.NewReader(text))
	for n := 1; scan.Scan(); n++ {
		if n == 1 {
			continue
		}
		var line int
		var f servingFold
		at := []any{&line}
		for _, r := range []*Range{&f.tokenPlan, &f.firstPlan, &f.tokenModel, &f.firstModel} {
			at = append(at, &r.Mid, &r.Low, &r.High)
		}
		if _, err := fmt.Sscan(scan.Text(), at...); err != nil {
			return nil, fmt.Errorf("serving-folds.tsv, line %d: %w", n, err)
		}
		out[line] = f
	}
	return out, scan.Err()
}
