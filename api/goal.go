package api

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// ForRequest returns the bounds in milliseconds that goal_share judges single requests by: for each time that of its
// highest percentile, 0 if unbounded.
func (g *Goal) ForRequest() (ttft, tpot float64) { return Highest(g.TTFT), Highest(g.TPOT) }

// Highest returns the bound of the highest percentile, or 0.
func Highest(by map[string]float64) (bound float64) {
	most := 0.0
	for _, name := range slices.Sorted(maps.Keys(by)) {
		if p, err := Percentile(name); err == nil && p > most {
			most, bound = p, by[name]
		}
	}
	return bound
}

// Percentile parses p50, p99 or p99.9 into a fraction.
func Percentile(name string) (share float64, err error) {
	number, ok := strings.CutPrefix(name, "p")
	p, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || !(p > 0 && p <= 100) {
		return 0, &Error{Code: BadField, Field: "goal", Value: Shorten(name), Message: fmt.Sprintf("goal: %s is not a percentile", Shorten(name)), Hint: `such as {"ttft_ms":{"p99":500}}`}
	}
	return p / 100, nil
}
