package watch

import (
	"time"

	"golang.org/x/sys/windows"
)

// used is the time of processors that this process took; Windows counts it in steps of 100 ns.
func used() (time.Duration, bool) {
	var began, ended, kernel, user windows.Filetime
	if windows.GetProcessTimes(windows.CurrentProcess(), &began, &ended, &kernel, &user) != nil {
		return 0, false
	}
	return 100 * time.Duration(steps(kernel)+steps(user)), true
}

func steps(t windows.Filetime) int64 { return int64(t.HighDateTime)<<32 | int64(t.LowDateTime) }
