// Command memwall computes the memory and speed of LLM inference and training. It connects internal/cli to the outside
// world.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/cli"
	"github.com/memwall/memwall/internal/detect"
	"github.com/memwall/memwall/internal/live"
	"github.com/memwall/memwall/internal/measure"
	"github.com/memwall/memwall/internal/tty"
	"github.com/memwall/memwall/internal/watch"
	"github.com/memwall/memwall/source"
	"github.com/memwall/memwall/source/remote"
)

// garbage in percent of what is in use: most questions are done before a collection at the usual 100 would pay for itself, and a server
// has little in use and makes much garbage, whose collection stands in the way of answers.
const garbage = 400

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
	kept, families := remote.CacheHere(os.Getenv), source.FamiliesFolder(os.Getenv, runtime.GOOS)
	far := remote.Here(kept)
	config := cli.Config{
		Args:        os.Args[1:],
		Stdin:       os.Stdin,
		Stdout:      os.Stdout,
		Stderr:      os.Stderr,
		Env:         os.Getenv,
		Terminal:    tty.Is(os.Stdout),
		ErrTerminal: tty.Is(os.Stderr),
		Keyboard:    tty.Is(os.Stdin),
		Columns:     tty.Columns(os.Stdout),
		Models:      source.New(source.Options{Remote: far, Families: source.FamiliesIn(families)}),
		Within:      within,
		Download:    far.Download,
		Data:        source.Lengths{},
		Traces:      &source.Traces{Stdin: os.Stdin},
		Weights:     source.OpenWeights,
		Statistics:  source.OpenStatistics,
		Machine:     detect.Here(),
		Measure:     measure.Run,
		FromCommand: memwall.FromCommand,
		Watching:    watch.Here,

		Self:          self,
		Farm:          farm,
		Interruptible: interruptible,
		Server: func(ctx context.Context, address, token string, watch time.Duration) (*memwall.StartupLog, error) {
			return live.Ask(ctx, address, live.Options{Token: token, For: watch})
		},
	}
	if kept != nil {
		config.Cache = kept
	}
	os.Exit(cli.Run(config))
}

// within gives the models of a folder.
func within(root string) (memwall.ModelSource, error) {
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	return source.New(source.Options{Root: root}), r.Close()
}

// self is this program once more.
func self(args ...string) *exec.Cmd {
	name, err := os.Executable()
	if err != nil {
		name = os.Args[0]
	}
	return exec.Command(name, args...)
}

// farm runs memwall-farm, which lies beside this program or on the PATH, in its place.
func farm(args ...string) error {
	name := "memwall-farm"
	if self, err := os.Executable(); err == nil {
		if at, err := exec.LookPath(filepath.Join(filepath.Dir(self), name)); err == nil {
			name = at
		}
	}
	c := exec.Command(name, args...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := c.Run()
	switch code := c.ProcessState.ExitCode(); {
	case c.ProcessState == nil: // it did not start
	case code < 0: // a signal has ended it
		os.Exit(1)
	default:
		os.Exit(code)
	}
	return &memwall.Error{Code: memwall.BadFile, Field: "store", Value: name,
		Message: fmt.Sprintf("memwall store is a part of memwall-farm, which cannot be run: %v", errors.Unwrap(err)),
		Hint:    "memwall-farm of the same release, beside memwall or on the PATH: docs/guides/install.md"}
}

// interruptible gives a context that the first interrupt, or who stops the process, ends; the second ends the program as usual.
func interruptible() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
