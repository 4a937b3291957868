//go:build linux || darwin || freebsd || netbsd || openbsd

package tty

import (
	"os"
	"syscall"
	"unsafe"
)

// Is reports whether a file is a terminal.
func Is(f *os.File) bool {
	_, ok := size(f)
	return ok
}

// Columns of a terminal; 0 where the file is none, or does not say.
func Columns(f *os.File) int {
	n, _ := size(f)
	return n
}

// size asks as tty_ioctl(4) says: every terminal answers, one without a size with 0.
func size(f *os.File) (columns int, ok bool) {
	var size struct{ rows, columns, x, y uint16 }
	_, _, failed := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), syscall.TIOCGWINSZ, uintptr(unsafe.Pointer(&size)))
	return int(size.columns), failed == 0
}
