//go:build unix

package source

import (
	"os"
	"syscall"
)

// openPipe opens a pipe. One into which nobody writes is empty; waiting for a writer could not be interrupted.
func openPipe(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}
