//go:build unix

package aside

import (
	"os"
	"os/exec"
	"syscall"
)

// lowest is the lowest scheduling priority.
const lowest = 19

// apart shields the process from interrupts at the terminal: the server receives them, and finishes what is running.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// lower lowers the priority of a process.
func lower(p *os.Process) {
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, p.Pid, lowest) // if not permitted, it works all the same
}
