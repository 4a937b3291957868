package main

import (
	"bytes"
	"os"
	"testing"
)

// TestTableIsFitted: the embedded table is what the program writes from the rows.
func TestTableIsFitted(t *testing.T) {
	want, err := fit()
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile("../../../train/fitted.tsv")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want) {
		t.Error("train/fitted.tsv is stale: go run ./validation/fit/trainmem")
	}
}

// TestFoldsAreFitted: the stored predictions are those of fits without each row's source.
func TestFoldsAreFitted(t *testing.T) {
	want, err := folds()
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile("../../rows/train-memory-folds.tsv")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want) {
		t.Error("validation/rows/train-memory-folds.tsv is stale: go run ./validation/fit/trainmem")
	}
}
