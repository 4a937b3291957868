package main

import (
	"testing"

	"github.com/memwall/memwall/validation/fit/internal/fittest"
)

// TestTablesAreFitted: what lies in the tree is what the program writes from the rows.
func TestTablesAreFitted(t *testing.T) {
	table, folds, err := fit()
	if err != nil {
		t.Fatal(err)
	}
	fittest.Fresh(t, "copies", "speed/copies.tsv", table)
	fittest.Fresh(t, "copies", "validation/rows/copy-folds.tsv", folds)
}
