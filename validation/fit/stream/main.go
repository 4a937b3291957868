// Stream fits the coefficients of speed/stream to the measured speeds of single streams, and writes them with
// the bands that rows left out of the fit call for. It gives the same table whatever the table was before:
//
//	go run ./validation/fit/stream -out speed/stream/fitted.tsv
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/validation/fit/internal/tables"
)

func main() {
	out := flag.String("out", "speed/stream/fitted.tsv", "table to write")
	folds := flag.String("folds", "validation/rows/decode-folds.tsv", "predictions of left-out rows to write")
	measured := flag.String("measured", "", "write the measurements that answers name, and nothing else")
	tables.Start()
	if *measured != "" {
		if err := writeMeasured(*measured); err != nil {
			fmt.Fprintln(os.Stderr, "fit:", err)
			os.Exit(1)
		}
		return
	}
	start := time.Now()
	if err := run(*out, *folds); err != nil {
		fmt.Fprintln(os.Stderr, "fit:", err)
		os.Exit(1)
	}
	fmt.Fprintln(os.Stderr, time.Since(start))
}

func run(out, folds string) error {
	rows, refused, err := load()
	if err != nil {
		return err
	}
	for why, n := range refused {
		fmt.Fprintf(os.Stderr, "refused %4d %s\n", n, why)
	}
	table, err := fit(rows, nil, nil)
	if err != nil {
		return err
	}
	if table, err = together(rows, nil, table); err != nil {
		return err
	}
	inside := make([]float64, len(rows))
	for i := range rows {
		inside[i] = rows[i].predict(values(&rows[i], table))
	}
	lefts := []leftOut{
		{key: func(r *row) string { return r.Model }},
		{key: (*row).hardware, bands: true},
		{key: (*row).report, bands: true},
	}
	if err := leaveAllOut(rows, table, lefts); err != nil {
		return err
	}
	models, hardware, reports := lefts[0].outs, lefts[1].outs, lefts[2].outs
	bands(table, rows, lefts)
	own(table, rows, lefts)
	list(os.Stderr, "in sample", rows, inside, nil)
	list(os.Stderr, "models left out", rows, rates(models), models)
	list(os.Stderr, "hardware left out", rows, rates(hardware), hardware)
	list(os.Stderr, "reports left out", rows, rates(reports), reports)
	if err := tables.Write(folds, writeFolds(rows, models, hardware, reports)); err != nil {
		return err
	}
	return tables.Write(out, table.Write())
}

// leaveAllOut predicts the rows for each way of leaving some out.
func leaveAllOut(rows []row, table *coef.Table, lefts []leftOut) error {
	var fits sync.WaitGroup
	errs := make([]error, len(lefts))
	for i := range lefts {
		fits.Go(func() { lefts[i].outs, errs[i] = leaveOut(rows, table, lefts[i].key) })
	}
	fits.Wait()
	return errors.Join(errs...)
}

func rates(outs []out) []float64 {
	x := make([]float64, len(outs))
	for i := range outs {
		x[i] = outs[i].rate
	}
	return x
}
