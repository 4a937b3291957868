package watch

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/memwall/memwall/internal/detect"
	"github.com/memwall/memwall/source/remote"
)

// Here are the ports of this machine.
func Here() Ports {
	return Ports{Machine: detect.Here(), Processes: processes, Start: Start, Page: Fetch(os.Getenv)}
}

// Fetch fetches pages: each address has a client of its own, which reaches no other private host than its own, wherever
// it is redirected.
func Fetch(env func(string) string) func(context.Context, string, int64) ([]byte, error) {
	var mu sync.Mutex
	clients := map[string]*remote.Pages{}
	of := func(address string) *remote.Pages {
		mu.Lock()
		defer mu.Unlock()
		if clients[address] == nil {
			clients[address] = remote.NewPages(env, []string{address}, pageTime)
		}
		return clients[address]
	}
	return func(ctx context.Context, address string, most int64) ([]byte, error) {
		return of(address).Get(ctx, address, most)
	}
}

// Start runs a program that goes on. Closing what it gives ends it.
func Start(ctx context.Context, name string, args ...string) (io.ReadCloser, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return nil, exec.ErrNotFound // a program of the current folder is not the system's
	}
	ctx, stop := context.WithCancel(ctx)
	c := exec.CommandContext(ctx, path, args...)
	c.Env = append(os.Environ(), "LC_ALL=C")
	c.WaitDelay = 200 * time.Millisecond
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		stop()
		return nil, err
	}
	return &running{out, c, stop}, nil
}

// running is a program's output.
type running struct {
	io.Reader
	c    *exec.Cmd
	stop context.CancelFunc
}

// Close ends the program.
func (r *running) Close() error {
	r.stop()
	err := r.c.Wait()
	if e, ok := errors.AsType[*exec.ExitError](err); ok && !e.Exited() {
		return nil // it was ended here
	}
	return err
}
