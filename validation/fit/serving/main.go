// Fit writes the table of speed/serving, in two rounds: first what single kernels take, from the rows of
// validation/kernels; then, with these as they are, what whole engines take beyond, from runs at fixed concurrency
// and static batches. Beside it stands how far off the table is, on the rows it was fitted to and on plans that were
// left out; with -study also on models, devices and kernels left out as a whole, which takes minutes.
//
//	go run ./validation/fit/serving -out speed/serving -folds validation/rows
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/speed/serving"
	"github.com/memwall/memwall/validation/fit/internal/tables"
)

func main() {
	out := flag.String("out", "speed/serving", "folder of the tables")
	folds := flag.String("folds", "validation/rows", "folder of the predictions of rows that were left out")
	study := flag.Bool("study", false, "leave out models, devices and kernels as well")
	tables.Start()
	if err := run(*out, *folds, *study); err != nil {
		fmt.Fprintln(os.Stderr, "fit:", err)
		os.Exit(1)
	}
}

// fitted is the table with what it rests on.
type fitted struct {
	kernels *kernelRows
	rows    *servingRows
	known   *coef.Table // of kernels alone
	table   *coef.Table
	left    []map[*servingRow]left // each way of unseen
	near    map[*servingRow]left   // of servers whose siblings were seen
}

func run(out, folds string, study bool) error {
	f, err := fitAll()
	if err != nil {
		return err
	}
	most, err := loadMost(f.table)
	if err != nil {
		return err
	}
	nearest, err := f.rows.nearest()
	if err != nil {
		return err
	}
	for _, err := range []error{
		write(out, "nearest.tsv", nearest),
		write(folds, "serving-folds.tsv", f.rows.folds(f.left, f.table)),
		write(folds, "throughput-folds.tsv", mostFolds(most)),
		write(out, "fitted.tsv", f.table.Write()),
		write(out, "runs.tsv", f.rows.combinations()),
		write(out, "accuracy.tsv", f.accuracy()),
	} {
		if err != nil {
			return err
		}
	}
	if !study {
		return nil
	}
	return f.leaveOut(out, folds, most)
}

// fitAll fits kernels, then whole engines, then both without the rows that bands are to say something of.
func fitAll() (f fitted, err error) {
	if f.kernels, err = loadKernels(); err != nil {
		return f, err
	}
	if f.rows, err = loadServing(); err != nil {
		return f, err
	}
	if f.known, err = f.kernels.fit(nil); err != nil {
		return f, err
	}
	if f.table, err = f.rows.fit(f.known, nil); err != nil {
		return f, err
	}
	f.left = make([]map[*servingRow]left, len(unseen))
	for i, way := range unseen {
		if f.left[i], err = f.rows.outOfFold(f.kernels, f.known, way); err != nil {
			return f, err
		}
	}
	if f.near, err = f.rows.outOfFold(f.kernels, f.known, siblings); err != nil {
		return f, err
	}
	f.rows.spreads(f.table, "", f.left...)
	f.rows.spreads(f.table, serving.Near, f.near)
	f.rows.own(f.table, f.left)
	return f, nil
}

// accuracy lists the errors on rows that were fitted, and on those left out.
func (f *fitted) accuracy() []byte {
	b := bytes.NewBufferString(studyHeader)
	f.rows.study(b, "in sample", serving.Near, f.rows.predict(f.table, nil), f.table)
	for i, way := range unseen {
		f.rows.study(b, way.name, "", f.left[i], f.table)
	}
	f.rows.study(b, siblings.name, serving.Near, f.near, f.table)
	f.kernels.shipped(b, f.table)
	return b.Bytes()
}

// leaveOut studies models, devices and kernels that no fit saw.
func (f *fitted) leaveOut(out, folds string, most []most) error {
	b := bytes.NewBufferString(studyHeader)
	for _, way := range wholesale {
		p, err := f.rows.outOfFold(f.kernels, f.known, way)
		if err != nil {
			return err
		}
		f.rows.study(b, way.name, "", p, f.table)
	}
	mostStudy(b, most)
	left, err := f.kernels.leftOut()
	if err != nil {
		return err
	}
	f.kernels.study(b, left)
	if err := write(folds, "kernel-folds.tsv", f.kernels.folds(left, f.table)); err != nil {
		return err
	}
	return write(out, "leftout.tsv", b.Bytes())
}

func write(folder, name string, data []byte) error {
	return tables.Write(filepath.Join(folder, name), data)
}
