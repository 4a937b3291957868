package main

import (
	"bytes"
	"os"
	"testing"
)

// TestTablesAreFitted: what lies in the tree is what the program writes from the rows.
func TestTablesAreFitted(t *testing.T) {
	table, folds, err := fit()
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string][]byte{"speed/copies.tsv": table, "validation/rows/copy-folds.tsv": folds} {
		have, err := os.ReadFile("../../../" + path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(have, want) {
			t.Errorf("%s is stale: go run ./validation/fit/copies", path)
		}
	}
}
