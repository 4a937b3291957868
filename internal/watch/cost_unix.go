//go:build linux || darwin || freebsd || netbsd || openbsd

package watch

import (
	"syscall"
	"time"
)

// Spent begins to count what this process takes of a processor, and gives the share of one since then. The first seconds
// are those of the start, and tell nothing.
func Spent() func() (share float64, ok bool) {
	const least = 5 * time.Second
	began, before := time.Now(), used()
	return func() (float64, bool) {
		passed := time.Since(began)
		if passed < least {
			if passed < time.Second {
				before = used()
			}
			return 0, false
		}
		return float64(used()-before) / float64(passed), true
	}
}

// used is the time of processors that this process took.
func used() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
