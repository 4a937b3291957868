package tty

import (
	"os"
	"syscall"
)

// Is reports whether a file is a terminal.
func Is(f *os.File) bool {
	var mode uint32
	return syscall.GetConsoleMode(syscall.Handle(f.Fd()), &mode) == nil
}

// Columns are unknown here: COLUMNS decides.
func Columns(*os.File) int { return 0 }
