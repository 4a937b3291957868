package main

import (
	"os"
	"testing"
)

// TestTablesAreFitted: what lies in the tree is what the program writes from the rows.
func TestTablesAreFitted(t *testing.T) {
	table, folds, err := fit()
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string][]byte{"../../engine/vllm/fitted.tsv": table, "../../validation/rows/vllm-folds.tsv": folds} {
		have, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(have) != string(want) {
			t.Errorf("%s is stale: go run ./validation/fit", path)
		}
	}
}
