package validation

import (
	"github.com/memwall/memwall/speed/serving"
	"github.com/memwall/memwall/validation/packed"
)

// Predictions of the largest throughput of each run, to which nothing is fitted, with its band and what a rule of
// thumb says. The fit (validation/fit/serving) writes them.
const throughputFolds packed.File = "rows/throughput-folds.tsv"

var throughput = Measure{Name: "largest throughput", About: "output tokens/s of as many users as the server takes; no row is fitted to",
	Target: 0.10}

const throughputFigure = "output_tokens_per_s"

// CompareThroughput compares the stored predictions with the set "throughput".
func CompareThroughput() (Set, []Comparison, error) {
	f, err := readFolds(throughputFolds, 4)
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
		c = f.compare(c, 0, servingRefit)
		c.asShipped(serving.SpreadThroughput)
		out = append(out, c)
	}
	return set, out, nil
}

func throughputs() (Set, error) {
	s, err := readSet("throughput", "rows/batches/throughput.jsonl")
	s.File = "batches/throughput.jsonl"
	return s, err
}
