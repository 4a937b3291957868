package term

import (
	"math"
	"strings"
	"testing"
)

// TestScatter: every point is drawn once, none outside of the plot, the dearest right of the cheapest and the slowest above the fastest;
// what is no plot is none.
func TestScatter(t *testing.T) {
	dots := []Dot{{1, 40, "1", Plain}, {10, 20, "2", Plain}, {10, 20, "3", Plain}, {3, 5, "4", Plain}, {10, 21, "5", Plain}}
	for _, cells := range []int{60, 80, 120} {
		lines := Scatter(dots, "$ an hour", "TPOT, ms", cells)
		row, column := map[string]int{}, map[string]int{}
		for i, l := range lines {
			if l.Cells() > cells {
				t.Errorf("a line of %d cells of %d", l.Cells(), cells)
			}
			_, plot, ok := strings.Cut(l.String(), "│")
			for at, r := range []rune(plot) {
				if ok && r != ' ' {
					if _, twice := row[string(r)]; twice {
						t.Errorf("%c is drawn twice", r)
					}
					row[string(r)], column[string(r)] = i, at
				}
			}
		}
		if len(row) != len(dots) || row["1"] >= row["2"] || row["2"] != row["3"] || row["2"] >= row["4"] || column["1"] != 0 ||
			column["4"] >= column["3"] || column["1"] >= column["4"] {
			t.Errorf("at %d cells rows %v, columns %v", cells, row, column)
		}
	}
	for name, none := range map[string][]Dot{"one": dots[:1], "equal": {dots[0], dots[0]}, "free": {{0, 1, "1", Plain}, dots[0]}, "none": nil,
		"no number": {{math.NaN(), 1, "1", Plain}, {math.NaN(), 2, "2", Plain}}} {
		if lines := Scatter(none, "x", "y", 80); lines != nil {
			t.Errorf("%s: %d lines", name, len(lines))
		}
	}
}
