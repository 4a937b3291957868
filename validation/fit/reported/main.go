// Reported writes speed/serving/reported.tsv: how far runs of servers that others report are from what is said of them, a vote for each
// source. Run it after validation/fit/serving:
//
//	go run ./validation/fit/reported -out speed/serving/reported.tsv
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/memwall/memwall/validation"
	"github.com/memwall/memwall/validation/fit/internal/tables"
)

func main() {
	out := flag.String("out", "speed/serving/reported.tsv", "table to write")
	tables.Start()
	table, err := fit()
	if err == nil {
		err = tables.Write(*out, table)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "reported:", err)
		os.Exit(1)
	}
}

func fit() ([]byte, error) {
	r, err := validation.AskedReports()
	if err != nil {
		return nil, err
	}
	return r.Table(), nil
}
