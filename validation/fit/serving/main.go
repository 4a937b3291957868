// Fit writes the table of speed/serving, in two rounds: first what single kernels take, from the rows of
// validation/kernels; then, with these as they are, what whole engines take beyond, from the rows of serving at
// fixed concurrency.
//
//	go run ./validation/fit/serving -out speed/serving/fitted.tsv
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
)

func main() {
	out := flag.String("out", "speed/serving/fitted.tsv", "table to write")
	report := flag.String("report", "", "print errors by group: in sample, or of these folds")
	flag.Parse()
	if err := run(*out, *report); err != nil {
		fmt.Fprintln(os.Stderr, "fit:", err)
		os.Exit(1)
	}
}

func run(out, report string) error {
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
	unseen, err := s.outOfFold(k, known, folds[0])
	if err != nil {
		return err
	}
	s.spreads(table, unseen)
	if report != "" {
		s.report("in sample", s.predict(table, nil))
		s.report(folds[0].name, unseen)
	}
	for _, f := range folds[1:] {
		if !strings.Contains(report, f.name) {
			continue
		}
		p, err := s.outOfFold(k, known, f)
		if err != nil {
			return err
		}
		s.report(f.name, p)
	}
	return os.WriteFile(out, table.Write(), 0o644)
}
