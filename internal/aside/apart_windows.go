package aside

import (
	"os"
	"os/exec"
	"syscall"
)

// idle is IDLE_PRIORITY_CLASS of winbase.h.
const idle = 0x40

// apart shields the process from interrupts at the console and gives it the lowest priority, which must be set at
// creation.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | idle}
}

func lower(*os.Process) {}
