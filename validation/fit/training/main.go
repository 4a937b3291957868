// Training fits the coefficients of train/step to published training speeds, and writes them with the bands that
// rows left out of the fit call for. It gives the same table whatever the table was before:
//
//	go run ./validation/fit/training -out train/step/fitted.tsv
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/validation/fit/internal/tables"
)

func main() {
	out := flag.String("out", "train/step/fitted.tsv", "table to write")
	folds := flag.String("folds", "validation/rows/train-folds.tsv", "predictions of left-out rows to write")
	verbose := flag.Bool("v", false, "list the worst rows")
	tables.Start()
	start := time.Now()
	if err := run(*out, *folds, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "fit:", err)
		os.Exit(1)
	}
	fmt.Fprintln(os.Stderr, time.Since(start))
}

func run(out, folds string, verbose bool) error {
	rows, err := load()
	if err != nil {
		return err
	}
	table, err := fit(rows, nil, nil)
	if err != nil {
		return err
	}
	r := &reporter{rows: rows, verbose: verbose}
	r.print("in sample", inside(rows, table))
	var all [][]guess
	for _, l := range leavings {
		o, err := leaveOut(rows, table, l.key)
		if err != nil {
			return err
		}
		r.print(l.name, o)
		all = append(all, o)
	}
	r.print("constant MFU of the other sources", constant(rows))
	bands(table, rows, all)
	for i, l := range leavings {
		r.coverage(l.name, all[i])
	}
	if err := tables.Write(folds, writeFolds(rows, all)); err != nil {
		return err
	}
	if err := tables.Write(filepath.Join(filepath.Dir(out), "nearest.tsv"), nearest(rows)); err != nil {
		return err
	}
	return tables.Write(out, table.Write())
}

// leavings are the ways in which rows are left out: with all of one publisher, of one model, of one family of devices.
var leavings = []struct {
	name string
	key  func(*row) string
}{
	{"sources left out", func(r *row) string { return r.Publisher() }},
	{"models left out", func(r *row) string { return r.Model }},
	{"families left out", func(r *row) string { return r.family }},
}

// inside are predictions by a fit that saw the rows.
func inside(rows []row, t *coef.Table) []guess {
	out := make([]guess, len(rows))
	for i := range rows {
		out[i] = rows[i].predict(t)
	}
	return out
}
