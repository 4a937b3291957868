// Fit writes the table of speed/serving, in two rounds: first what single kernels take, from the rows of
// validation/kernels; then, with these as they are, what whole engines take beyond, from runs at fixed concurrency
// and static batches. Beside it stands how far off the table is, on the rows it was fitted to and on plans that were
// left out; with -study also on models, devices and kernels left out as a whole, which takes minutes.
//
//	go run ./validation/fit/serving -out speed/serving -folds validation/rows/serving-folds.tsv
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/memwall/memwall/speed/coef"
)

func main() {
	out := flag.String("out", "speed/serving", "folder of the tables")
	folds := flag.String("folds", "validation/rows/serving-folds.tsv", "predictions of rows that were left out")
	study := flag.Bool("study", false, "leave out models, devices and kernels as well")
	flag.Parse()
	if err := run(*out, *folds, *study); err != nil {
		fmt.Fprintln(os.Stderr, "fit:", err)
		os.Exit(1)
	}
}

func run(out, folds string, study bool) error {
	k, err := loadKernels()
	if err != nil {
		return err
	}
	s, err := loadServing()
	if err != nil {
		return err
	}
	known, err := k.fit(nil)
	if err != nil {
		return err
	}
	table, err := s.fit(known, nil)
	if err != nil {
		return err
	}
	left := make([]map[*servingRow]left, len(unseen))
	for i, f := range unseen {
		if left[i], err = s.outOfFold(k, known, f); err != nil {
			return err
		}
	}
	s.spreads(table, left)
	b := bytes.NewBufferString(studyHeader)
	s.study(b, "in sample", s.predict(table, nil), table)
	for i, f := range unseen {
		s.study(b, f.name, left[i], table)
	}
	if err := os.WriteFile(folds, s.folds(left, table), 0o644); err != nil {
		return err
	}
	if err := write(out, "fitted.tsv", table.Write()); err != nil {
		return err
	}
	if err := write(out, "accuracy.tsv", b.Bytes()); err != nil || !study {
		return err
	}
	return leaveOut(out, k, s, known, table)
}

// leaveOut studies models, devices and kernels that no fit saw.
func leaveOut(out string, k *kernelRows, s *servingRows, known, table *coef.Table) error {
	b := bytes.NewBufferString(studyHeader)
	for _, f := range wholesale {
		p, err := s.outOfFold(k, known, f)
		if err != nil {
			return err
		}
		s.study(b, f.name, p, table)
	}
	if err := mostStudy(b, table); err != nil {
		return err
	}
	if err := k.study(b); err != nil {
		return err
	}
	return write(out, "leftout.tsv", b.Bytes())
}

func write(folder, name string, data []byte) error {
	return os.WriteFile(filepath.Join(folder, name), data, 0o644)
}
