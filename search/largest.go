package search

// Largest is the largest n from low to limit for which ok holds, where ok holds for low and, from some n on, for none: it doubles
// until ok fails or the limit is reached, which is asked too, and halves what is left. It stops within a part of n: of 64 parts, no
// more than n/64 below the largest; 0 parts is exact. ok is asked some 2 × log2(limit) times.
func Largest(low, limit, parts int64, ok func(n int64) bool) int64 {
	over := limit + 1 // holds not, or is not asked
	for step := max(1, low); low < limit; step = max(1, low) {
		next := min(limit, low+step)
		if !ok(next) {
			over = next
			break
		}
		low = next
	}
	for over-low > 1 && (parts == 0 || over-low > low/parts) {
		if mid := low + (over-low)/2; ok(mid) {
			low = mid
		} else {
			over = mid
		}
	}
	return low
}

// LargestNear is Largest from a guess on, where ok may hold for no n at all: 0 then. It halves the guess until ok holds, so that a
// good guess asks ok a few times.
func LargestNear(guess, limit, parts int64, ok func(n int64) bool) int64 {
	low, over := min(max(1, guess), limit), limit+1
	for low > 0 && !ok(low) {
		low, over = low/2, low
	}
	if low == 0 {
		return 0
	}
	return Largest(low, over-1, parts, ok)
}
