package detect

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// maxOutput bounds a program's output: nvidia-smi prints about 50 kB per device.
const maxOutput = 4 << 20

// Here returns the machine that the program runs on.
func Here() Machine {
	return Machine{OS: runtime.GOOS, Files: os.DirFS(root()), Run: run, Env: os.LookupEnv, RAM: ram}
}

// root returns the folder containing the system's files.
func root() string {
	if drive := os.Getenv("SystemDrive"); runtime.GOOS == "windows" && drive != "" {
		return drive + `\`
	}
	return "/"
}

// run runs a program without input, in the C locale, until ctx ends.
func run(ctx context.Context, name string, args ...string) ([]byte, error) {
	path, err := exec.LookPath(name)
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return nil, err
	}
	if err != nil {
		return nil, exec.ErrNotFound // a program in the current folder is not the system's
	}
	c := exec.CommandContext(ctx, path, args...)
	c.Env = append(os.Environ(), "LC_ALL=C")
	c.WaitDelay = 100 * time.Millisecond // for children that keep the pipe open
	out := &bounded{most: maxOutput}
	c.Stdout = out
	err = c.Run()
	return out.kept, err
}

// bounded keeps the beginning of what is written and discards the rest. It has no ReadFrom, which would keep everything.
type bounded struct {
	kept []byte
	most int
}

func (b *bounded) Write(p []byte) (int, error) {
	if room := b.most - len(b.kept); room > 0 {
		b.kept = append(b.kept, p[:min(room, len(p))]...)
	}
	return len(p), nil
}
