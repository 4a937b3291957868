package search

import "testing"

// TestLargest: against trying each number, for every limit and every edge, powers of two among them.
func TestLargest(t *testing.T) {
	for limit := int64(1); limit <= 300; limit++ {
		for edge := int64(1); edge <= limit+1; edge++ {
			asked := 0
			ok := func(n int64) bool {
				asked++
				if n < 1 || n > limit {
					t.Fatalf("%d of %d is asked", n, limit)
				}
				return n <= edge
			}
			each := int64(1)
			for n := int64(1); n <= limit; n++ {
				if n <= edge {
					each = n
				}
			}
			if got := Largest(1, limit, 0, ok); got != each {
				t.Fatalf("limit %d, edge %d: %d, want %d", limit, edge, got, each)
			}
			if asked > 20 {
				t.Errorf("limit %d, edge %d: asked %d times", limit, edge, asked)
			}
			if got := Largest(1, limit, 64, ok); got > each || got < each-max(1, each/64) || edge >= limit && got != limit {
				t.Fatalf("limit %d, edge %d: %d of 64 parts, want near %d", limit, edge, got, each)
			}
		}
	}
}

// TestLargestNear: from every guess the same as without one, and none where ok holds for none.
func TestLargestNear(t *testing.T) {
	for limit := int64(1); limit <= 60; limit++ {
		for edge := int64(0); edge <= limit+1; edge++ {
			for guess := int64(0); guess <= limit+1; guess += 1 + guess/3 {
				got := LargestNear(guess, limit, 0, func(n int64) bool {
					if n < 1 || n > limit {
						t.Fatalf("%d of %d is asked", n, limit)
					}
					return n <= edge
				})
				if want := min(edge, limit); got != want {
					t.Fatalf("limit %d, edge %d, guess %d: %d, want %d", limit, edge, guess, got, want)
				}
			}
		}
	}
}
