package main

import (
	"testing"

	"github.com/memwall/memwall/validation/fit/internal/fittest"
)

// TestTableIsFitted: the embedded table is what the program writes from the reports.
func TestTableIsFitted(t *testing.T) {
	want, err := fit()
	if err != nil {
		t.Fatal(err)
	}
	fittest.Fresh(t, "reported", "speed/serving/reported.tsv", want)
}
