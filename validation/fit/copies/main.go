// Copies writes speed/copies.tsv: the share of a link's rate that large copies reach, fitted to the rows of
// validation/rows/copies.tsv, with how far off devices are that a fit has not seen:
//
//	go run ./validation/fit/copies -out speed/copies.tsv -folds validation/rows/copy-folds.tsv
package main

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"

	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/validation"
	"github.com/memwall/memwall/validation/fit/internal/tables"
)

func main() {
	out := flag.String("out", "speed/copies.tsv", "table to write")
	folds := flag.String("folds", "validation/rows/copy-folds.tsv", "predictions of left-out rows to write")
	tables.Start()
	table, left, err := fit()
	for _, err := range []error{err, write(*out, table), write(*folds, left)} {
		if err != nil {
			fmt.Fprintln(os.Stderr, "copies:", err)
			os.Exit(1)
		}
	}
}

// write what was made, and nothing where that failed.
func write(path string, data []byte) error {
	if data == nil {
		return nil
	}
	return tables.Write(path, data)
}

// fit solves the problem with all rows, and without each device for the band and the predictions.
func fit() (table, folds []byte, err error) {
	rows, err := validation.Copies()
	if err != nil {
		return nil, nil, err
	}
	t, err := solve(rows, "")
	if err != nil {
		return nil, nil, err
	}
	left := make([]coef.Coef, len(rows))
	var errors coef.Errors
	for i := range rows {
		without, err := solve(rows, rows[i].Device)
		if err != nil {
			return nil, nil, err
		}
		left[i] = without.At(speed.CopyUse)
		errors.Log, errors.Var = append(errors.Log, math.Log(share(&rows[i])/left[i].Value)), append(errors.Var, left[i].Var)
	}
	spread := errors.Spread(0.9)
	t.SetSpread(speed.CopyUse.Name, spread)
	return t.Write(), predictions(rows, left, spread), nil
}

// predictions of rows whose device was left out, with their band, in GB/s.
func predictions(rows []validation.Copy, left []coef.Coef, spread coef.Spread) []byte {
	b := bytes.NewBufferString("line\trate\tlow\thigh\n")
	for i := range rows {
		low, high := spread.Band(left[i].Value, left[i].Var)
		link := float64(rows[i].Link) / 1e9
		fmt.Fprintf(b, "%d\t%.4g\t%.4g\t%.4g\n", rows[i].Line, link*left[i].Value, link*low, link*high)
	}
	return b.Bytes()
}

// share of the link that a copy reached.
func share(c *validation.Copy) float64 { return float64(c.Rate) / float64(c.Link) }

// solve leaves the rows of a device out. What is believed before any row is wide, so that the rows decide.
func solve(rows []validation.Copy, without string) (*coef.Table, error) {
	name := speed.CopyUse.Name
	p := coef.Problem{Start: map[string]float64{name: 0.8}, Sigma: map[string]map[string]float64{name: {speed.CopyUse.Levels[0].Name: 0.5}},
		Scale: 0.05}
	for i := range rows {
		if r := &rows[i]; r.Device != without {
			p.Rows = append(p.Rows, coef.Row{Name: fmt.Sprint("copies:", r.Line), Uses: []coef.Use{speed.CopyUse}, Measured: share(r),
				Weight: 1, Predict: func(c []float64) float64 { return c[0] }})
		}
	}
	return p.Solve()
}
