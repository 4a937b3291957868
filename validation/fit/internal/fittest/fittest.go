// Package fittest compares tables of the tree with what the programs that fit them write.
package fittest

import (
	"bytes"
	"os"
	"testing"
)

// Fresh fails a test of a program below validation/fit unless a file, by its path from the root, holds what that
// program writes.
func Fresh(t *testing.T, program, path string, want []byte) {
	t.Helper()
	have, err := os.ReadFile("../../../" + path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want) {
		t.Errorf("%s is stale: go run ./validation/fit/%s", path, program)
	}
}
