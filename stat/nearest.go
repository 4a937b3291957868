package stat

import (
	"cmp"
	"math"

	"github.com/memwall/memwall/internal/stable"
)

// Nearest returns the n elements of a list with the smallest distance, nearest first and ties in list order. Elements
// at infinite distance are omitted.
func Nearest[T any](list []T, n int, distance func(*T) float64) (out []T) {
	type placed struct {
		at  int
		far float64
	}
	var all []placed
	for i := range list {
		if far := distance(&list[i]); !math.IsInf(far, 1) {
			all = append(all, placed{i, far})
		}
	}
	stable.Sort(all, func(a, b placed) int { return cmp.Compare(a.far, b.far) })
	for _, p := range all[:min(n, len(all))] {
		out = append(out, list[p.at])
	}
	return out
}

// Doublings returns |log2(a/b)|, the number of doublings from the smaller size to the larger. Sizes below 1 count as 1.
func Doublings(a, b int64) float64 {
	return math.Abs(math.Log2(float64(max(1, a)) / float64(max(1, b))))
}
