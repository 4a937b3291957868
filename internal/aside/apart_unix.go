//go:build unix

package aside

import (
	"os"
	"os/exec"
	"syscall"
)

// lowest is the priority that gives way to all others.
const lowest = 19

// apart keeps an interrupt at the terminal from the process: the server is told, and finishes what runs.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// lower the priority of a process.
func lower(p *os.Process) {
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, p.Pid, lowest) // where that is not allowed, it answers all the same
}
