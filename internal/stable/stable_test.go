package stable

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSort: random lists with many equal keys come out as the standard library sorts them.
func TestSort(t *testing.T) {
	type pair struct{ key, place int }
	r := rand.New(rand.NewPCG(1, 2))
	by := func(a, b pair) int { return cmp.Compare(a.key, b.key) }
	for n := range 200 {
		got := make([]pair, n)
		for i := range got {
			got[i] = pair{r.IntN(1 + n/3), i}
		}
		want := slices.Clone(got)
		slices.SortStableFunc(want, by)
		if Sort(got, by); !slices.Equal(got, want) {
			t.Fatalf("%d: %v, want %v", n, got, want)
		}
	}
	Sort[[]pair](nil, by)
}
