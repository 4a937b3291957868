package validation

import (
	"os"
	"testing"
)

// TestMeasuredTable: the table that answers name measurements from is that of the rows.
func TestMeasuredTable(t *testing.T) {
	want, err := MeasuredTable()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../speed/stream/measured.tsv")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error("stale: go run ./validation/fit/stream -measured speed/stream/measured.tsv")
	}
}
