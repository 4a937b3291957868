package main

import (
	"testing"

	"github.com/memwall/memwall/validation/fit/internal/fittest"
)

// TestTableIsFitted: the embedded table is what the program writes from the rows.
func TestTableIsFitted(t *testing.T) {
	want, err := fit()
	if err != nil {
		t.Fatal(err)
	}
	fittest.Fresh(t, "trainmem", "train/fitted.tsv", want)
}

// TestFoldsAreFitted: the stored predictions are those of fits without each row's source.
func TestFoldsAreFitted(t *testing.T) {
	want, err := folds()
	if err != nil {
		t.Fatal(err)
	}
	fittest.Fresh(t, "trainmem", "validation/rows/train-memory-folds.tsv", want)
}
