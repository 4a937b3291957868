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
