//go:build unix

package farm

import (
	"syscall"
	"time"
)

// pause a process, as a machine that is cut off: its peers choose others, and it comes back with what it last believed.
func (p *process) pause(d time.Duration) {
	if err := p.Process.Signal(syscall.SIGSTOP); err != nil {
		p.t.Error(err)
	}
	time.Sleep(d)
	if err := p.Process.Signal(syscall.SIGCONT); err != nil {
		p.t.Error(err)
	}
}
