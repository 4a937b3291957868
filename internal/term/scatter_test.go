package term

import (
	"math"
	"strings"
	"testing"
)

// TestScatter: every point is drawn once, none outside of the plot, the dearest right of the cheapest and the slowest above the fastest;
// what is not a plot is none.
func TestScatter(t *testing.T) {
	dots := []Dot{{X: 1, Y: 40, Mark: "1"}, {X: 10, Y: 20, Mark: "2"}, {X: 10, Y: 20, Mark: "3"}, {X: 3, Y: 5, Mark: "4"}, {X: 10, Y: 21, Mark: "5"}}
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
	for name, none := range map[string][]Dot{"one": dots[:1], "equal": {dots[0], dots[0]}, "free": {{X: 0, Y: 1, Mark: "1"}, dots[0]}, "none": nil,
		"no number": {{X: math.NaN(), Y: 1, Mark: "1"}, {X: math.NaN(), Y: 2, Mark: "2"}}} {
		if lines := Scatter(none, "x", "y", 80); lines != nil {
			t.Errorf("%s: %d lines", name, len(lines))
		}
	}
}

// TestScatterBehind: a point behind others takes no place of theirs, and large numbers are short.
func TestScatterBehind(t *testing.T) {
	lines := Scatter([]Dot{{X: 1, Y: 1_200_000, Mark: "1"}, {X: 10, Y: 5, Mark: "2"}, {X: 1, Y: 1_200_000, Mark: "x", Behind: true}, {X: 3, Y: 600_000, Mark: "y", Behind: true}}, "days", "cost", 60)
	text := ""
	for _, l := range lines {
		text += l.String() + "\n"
	}
	if strings.Contains(text, "x") || !strings.Contains(text, "y") || !strings.Contains(text, "1.20M │1") {
		t.Error(text)
	}
}
