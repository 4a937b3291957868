//go:build unix

package regular

import "syscall"

// noWait: opening a pipe does not wait for its other end; regular files do not know it.
const noWait = syscall.O_NONBLOCK
