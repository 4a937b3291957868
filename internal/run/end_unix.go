//go:build unix

package run

import (
	"os/exec"
	"syscall"
)

// apart gives the server a group of its own, so that what it started ends with it, and an interrupt of the terminal is handed on once.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func end(cmd *exec.Cmd)  { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) } // gone already is well
func kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // gone already is well
