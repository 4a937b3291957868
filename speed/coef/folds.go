package coef

import (
	"hash/fnv"

	"github.com/memwall/memwall/internal/stable"
)

// Folds divides rows 0..n-1 into k folds, keeping rows with the same key in the same fold. Keys are dealt by their number of rows,
// largest first, to the emptiest fold, with ties broken by a hash of the key, so that the order of rows does not matter.
func Folds(n int, key func(i int) string, k int) [][]int {
	by := map[string][]int{}
	for i := range n {
		by[key(i)] = append(by[key(i)], i)
	}
	keys := make([]string, 0, len(by))
	for name := range by {
		keys = append(keys, name)
	}
	stable.Sort(keys, func(a, b string) int {
		if d := len(by[b]) - len(by[a]); d != 0 {
			return d
		}
		if x, y := hash(a), hash(b); x != y {
			return int(x%1e9) - int(y%1e9)
		}
		return compareTerms(term{key: a}, term{key: b})
	})
	folds := make([][]int, k)
	for _, name := range keys {
		least := 0
		for f := range folds {
			if len(folds[f]) < len(folds[least]) {
				least = f
			}
		}
		folds[least] = append(folds[least], by[name]...)
	}
	return folds
}

func hash(s string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(s)) // a hash takes everything
	return h.Sum32()
}
