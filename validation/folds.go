package validation

import (
	"fmt"
	"strconv"

	"github.com/memwall/memwall/validation/packed"
)

// folds are predictions of rows by fits that lacked them, by the line of the row. The programs below
// validation/fit write them beside the coefficients, which themselves rest on all rows and so say nothing about
// rows unseen.
type folds map[int][]float64

// readFolds reads a table of them: a header, then the line of a row and so many numbers.
func readFolds(file packed.File, numbers int) (folds, error) {
	out := folds{}
	err := eachRow(file, func(_ int, cells []string) error {
		line, x, err := readFold(cells, numbers)
		out[line] = x
		return err
	})
	return out, err
}

func readFold(cells []string, numbers int) (line int, x []float64, err error) {
	if len(cells) != numbers+1 {
		return 0, nil, fmt.Errorf("%d cells, want %d", len(cells), numbers+1)
	}
	if line, err = strconv.Atoi(cells[0]); err != nil {
		return 0, nil, err
	}
	x = make([]float64, numbers)
	for i := range x {
		if x[i], err = strconv.ParseFloat(cells[i+1], 64); err != nil {
			return 0, nil, err
		}
	}
	return line, x, nil
}

// compare puts a stored prediction, whose figure starts at a column, beside what a row measured. The figure's band
// follows it, where the measure has one. missing says why there is none for the row.
func (f folds) compare(c Comparison, column int, missing string) Comparison {
	c.Refused = c.Row.Refused
	x, ok := f[c.Row.Line]
	switch {
	case c.Refused != "":
		return c
	case !ok:
		c.Refused = missing
		return c
	case c.Measure.Bandless:
		c.Ours = exactly(x[column])
	default:
		c.Ours = Range{x[column], x[column+1], x[column+2]}
	}
	c.judge()
	return c
}
