//go:build !windows

package watch

// processes are read from files on Linux, and ps tells them on macOS.
var processes func() ([]Process, error)
