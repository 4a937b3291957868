package stat

import (
	"cmp"
	"math"

	"github.com/memwall/memwall/internal/stable"
)

// Nearest are the n of a list that a distance puts first, the nearest first and equals in their order; what is infinitely far is
// left out.
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

// Doublings are how often the smaller of two sizes is doubled to be the larger; a size below 1 counts as 1.
func Doublings(a, b int64) float64 {
	return math.Abs(math.Log2(float64(max(1, a)) / float64(max(1, b))))
}
