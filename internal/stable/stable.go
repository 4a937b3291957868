// Package stable implements slices.SortStableFunc with one compiled sort for all types: the standard library's is
// instantiated for each element type, at six kilobytes each, and the program has fifty.
package stable

import "slices"

// Sort sorts by cmp and keeps equal elements in their order. It takes O(n log n) comparisons and O(n) memory.
func Sort[S ~[]E, E any](s S, cmp func(a, b E) int) {
	if len(s) < 2 {
		return
	}
	from := slices.Clone(s)
	for to, at := range sorted(len(s), func(i, j int) int { return cmp(from[i], from[j]) }) {
		s[to] = from[at]
	}
}

// sorted are the numbers below n in the order of cmp.
func sorted(n int, cmp func(i, j int) int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	slices.SortStableFunc(out, cmp)
	return out
}
