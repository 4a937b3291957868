// Package detect says what hardware this machine has, in words that --on takes. It asks NVIDIA's driver,
// Apple's kernel and Linux's /proc, and says nothing where they say nothing.
//
// Open detect.go for the order in which they are asked, words.go for how their answers become words.
package detect

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// Machine is a machine to look at. Its ports are what reaches outside.
type Machine struct {
	OS       string // as runtime.GOOS
	Run      func(name string, args ...string) ([]byte, error)
	ReadFile func(name string) ([]byte, error)
}

// patience is how long a program may take to answer.
const patience = 5 * time.Second

// Here is the machine that the program runs on.
func Here() Machine { return Machine{OS: runtime.GOOS, Run: run, ReadFile: os.ReadFile} }

func run(name string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return exec.CommandContext(ctx, name, args...).Output()
}

// Hardware gives the machine's accelerators and host memory, or its processor alone; ok is false when
// nothing answers.
func (m Machine) Hardware() (words string, ok bool) {
	if m.OS == "darwin" {
		return m.apple()
	}
	host, known := m.memory()
	gpus := m.nvidia()
	if gpus == "" {
		if !known {
			return "", false
		}
		gpus = "cpu"
	}
	if known {
		gpus += ",host=" + host
	}
	return gpus, true
}

// nvidia asks the driver's own tool; "" without one, or without devices.
func (m Machine) nvidia() string {
	out, err := m.Run("nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader,nounits")
	if err != nil {
		return ""
	}
	return devices(string(out))
}

// memory is Linux's MemTotal; other systems than Linux and macOS are not asked.
func (m Machine) memory() (size string, ok bool) {
	text, err := m.ReadFile("/proc/meminfo")
	if err != nil {
		return "", false
	}
	return memTotal(string(text))
}

// apple: the chip's name with the memory that it shares.
func (m Machine) apple() (words string, ok bool) {
	chip, err := m.Run("sysctl", "-n", "machdep.cpu.brand_string", "hw.memsize")
	if err != nil {
		return "", false
	}
	return appleChip(string(chip))
}
