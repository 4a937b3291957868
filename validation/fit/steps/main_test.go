package main

import (
	"testing"

	"github.com/memwall/memwall/validation/fit/internal/fittest"
)

// TestLawsAreFitted: what lies in the tree is what the program writes from the logs.
func TestLawsAreFitted(t *testing.T) {
	text, err := laws()
	if err != nil {
		t.Fatal(err)
	}
	fittest.Fresh(t, "steps", "validation/rows/loads/laws.txt", text)
}
