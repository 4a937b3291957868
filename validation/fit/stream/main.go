// Stream fits the coefficients of speed/stream to the measured speeds of single streams, and writes them with
// the bands that rows left out of the fit call for. It gives the same table whatever the table was before:
//
//	go run ./validation/fit/stream -out speed/stream/fitted.tsv
package main

import (
	"flag"
	"fmt"
	"github.com/memwall/memwall/validation/fit/internal/tables"
	"os"
	"time"
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
	byModel := func(r *row) string { return r.Model }
	models, err := leaveOut(rows, table, byModel)
	if err != nil {
		return err
	}
	byHardware := func(r *row) string { return r.hardware() }
	hardware, err := leaveOut(rows, table, byHardware)
	if err != nil {
		return err
	}
	lefts := []leftOut{{models, byModel}, {hardware, byHardware}}
	bands(table, rows, lefts)
	own(table, rows, lefts)
	list(os.Stderr, "in sample", rows, inside, nil)
	list(os.Stderr, "models left out", rows, rates(models), models)
	list(os.Stderr, "hardware left out", rows, rates(hardware), hardware)
	if err := tables.Write(folds, writeFolds(rows, models, hardware)); err != nil {
		return err
	}
	return tables.Write(out, table.Write())
}

func rates(outs []out) []float64 {
	x := make([]float64, len(outs))
	for i := range outs {
		x[i] = outs[i].rate
	}
	return x
}
