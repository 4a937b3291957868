package main

import (
	"testing"

	"github.com/memwall/memwall/validation/fit/internal/fittest"
)

// TestTableIsFitted: what lies in the tree is what the program writes from the rows.
func TestTableIsFitted(t *testing.T) {
	table, err := fit()
	if err != nil {
		t.Fatal(err)
	}
	fittest.Fresh(t, "adam", "speed/adam.tsv", table)
}
