//go:build !(linux || darwin || freebsd || netbsd || openbsd || windows)

package tty

import "os"

// Is reports whether a file is a character device other than the one that keeps nothing.
func Is(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// Columns are unknown here: COLUMNS decides.
func Columns(*os.File) int { return 0 }
