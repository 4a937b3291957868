package search

// Largest returns the largest n from low to limit for which ok holds, given that ok(low) holds and that ok is
// monotonic. It doubles n until ok fails or the limit is reached (and tested), then bisects. With parts > 0 it stops
// within n/parts of the largest; 0 is exact. It calls ok about 2 × log2(limit) times.
func Largest(low, limit, parts int64, ok func(n int64) bool) int64 {
	over := limit + 1 // fails, or is not tested
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

// LargestNear is Largest starting from a guess; it returns 0 if ok holds for no n. It halves the guess until ok holds,
// so a good guess takes few calls.
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
