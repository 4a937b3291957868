package watch

import "time"

// Spent begins to count what this process takes of a processor, and gives the share of one since then. The first seconds
// are those of the start, and tell nothing.
func Spent() func() (share float64, ok bool) {
	const least = 5 * time.Second
	began := time.Now()
	before, _ := used()
	return func() (float64, bool) {
		passed := time.Since(began)
		now, known := used()
		if passed < time.Second {
			before = now
		}
		if passed < least || !known {
			return 0, false
		}
		return float64(now-before) / float64(passed), true
	}
}
