package main

import (
	"os"
	"strings"
	"testing"

	"github.com/memwall/memwall/validation/fit/internal/fittest"
)

// TestTableIsFitted: the coefficients of the embedded table are what the rows give; the bands behind them take a
// fit for each publisher, model and family.
func TestTableIsFitted(t *testing.T) {
	rows, err := load()
	if err != nil {
		t.Fatal(err)
	}
	table, err := fit(rows, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile("../../../train/step/fitted.tsv")
	if err != nil {
		t.Fatal(err)
	}
	coefficients, _, found := strings.Cut(string(have), "\nspread\t")
	if want := strings.TrimSuffix(string(table.Write()), "\n"); !found || coefficients != want {
		t.Error("train/step/fitted.tsv is stale: go run ./validation/fit/training")
	}
}

// TestRowsCompile: every row that is not refused is a run that can be compiled, and slower than its products.
func TestRowsCompile(t *testing.T) {
	rows, err := load()
	if err != nil {
		t.Fatal(err)
	}
	publishers := map[string]int{}
	for i := range rows {
		r := &rows[i]
		publishers[r.Publisher()]++
		if s := r.model.Tokens() / float64(r.Count) / r.Rate; s < r.model.Floor() {
			t.Errorf("%s: measured %g s, its products take %g", r.Name(), s, r.model.Floor())
		}
	}
	if len(rows) < 940 || len(publishers) < 16 {
		t.Errorf("%d rows of %d publishers", len(rows), len(publishers))
	}
}

// TestNearest: the table of runs that answers name as nearest is that of the rows.
func TestNearest(t *testing.T) {
	rows, err := load()
	if err != nil {
		t.Fatal(err)
	}
	fittest.Fresh(t, "training", "train/step/nearest.tsv", nearest(rows))
}
