package aside

import (
	"os"
	"os/exec"
	"syscall"
)

// idle is IDLE_PRIORITY_CLASS of winbase.h.
const idle = 0x40

// apart keeps an interrupt at the console from the process, and gives it the lowest priority: it is said at the start.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | idle}
}

func lower(*os.Process) {}
