package validation

import (
	_ "embed"
	"fmt"
)

// Predictions of the largest throughput of each run, to which nothing is fitted, with its band and what a rule of
// thumb says. The fit (validation/fit/serving) writes them.
//
//go:embed rows/throughput-folds.tsv
var throughputFolds string

var throughput = Measure{Name: "largest throughput", About: "output tokens/s of as many users as the server takes; no row is fitted to", Target: 0.10}

const throughputFigure = "output_tokens_per_s"

// CompareThroughput puts the stored predictions beside the set "throughput".
func CompareThroughput() (Set, []Comparison, error) {
	f, err := readFolds("throughput-folds.tsv", throughputFolds, 4)
	if err != nil {
		return Set{}, nil, err
	}
	set, err := throughputs()
	if err != nil {
		return Set{}, nil, err
	}
	var out []Comparison
	for i := range set.Rows {
		r := &set.Rows[i]
		c := Comparison{Measure: &throughput, Row: r, Figure: throughputFigure, Measured: r.Got[throughputFigure]}
		if x, ok := f[r.Line]; ok {
			c.Naive = x[3]
		}
		out = append(out, f.compare(c, 0, servingRefit))
	}
	return set, out, nil
}

func throughputs() (Set, error) {
	sets, err := load(&embedded, "rows/batches/*.jsonl")
	if err != nil {
		return Set{}, err
	}
	for _, s := range sets {
		if s.Name == "throughput" {
			s.File = "batches/throughput.jsonl"
			return s, nil
		}
	}
	return Set{}, fmt.Errorf("no rows are called throughput")
}
