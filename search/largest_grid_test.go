package search_test

import (
	"math/rand/v2"
	"testing"

	"github.com/memwall/memwall/search"
)

// TestLargestOfAnyRange: the largest of ranges that begin and end anywhere is what trying each number finds; each is asked once, none
// outside of the range or at its beginning, which is known to hold, and few of many.
func TestLargestOfAnyRange(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		low := r.Int64N(70)
		limit := low + r.Int64N(1<<r.IntN(12))
		edge := low + r.Int64N(limit-low+2)
		parts := []int64{0, 4, 64}[r.IntN(3)]
		asked := map[int64]bool{}
		got := search.Largest(low, limit, parts, func(n int64) bool {
			if n <= low || n > limit || asked[n] {
				t.Fatalf("%d is asked from %d to %d, or twice", n, low, limit)
			}
			asked[n] = true
			return n <= edge
		})
		each := low
		for n := low; n <= limit && n <= edge; n++ {
			each = n
		}
		slack := int64(0)
		if parts > 0 {
			slack = each / parts
		}
		if got > each || got < each-slack || edge >= limit && got != limit {
			t.Fatalf("from %d to %d, up to %d, %d parts: %d, want %d", low, limit, edge, parts, got, each)
		}
		if len(asked) > 26 {
			t.Fatalf("from %d to %d, up to %d: %d were asked", low, limit, edge, len(asked))
		}
	}
}
