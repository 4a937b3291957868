//go:build linux || darwin || freebsd || netbsd || openbsd

package watch

import (
	"syscall"
	"time"
)

// used is the time of processors that this process took.
func used() (time.Duration, bool) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0, false
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), true
}
