package run

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/memwall/memwall/engine/argv"
)

// Loading describes how to make a running server load a model.
type Loading struct {
	Name  string   // by which the server knows it
	File  string   // that it is made of, which must be here; "": the server fetches it
	Make  []string // arguments of the program that make the name known; nil: it is fetched by its name
	Files map[string]string
	// load does it: programs print to out what they do.
	load func(ctx context.Context, s *Server, out io.Writer) error
	// lines are the commands as a shell takes them, behind that of the server.
	lines func(server string) string
}

func (s *Server) load(ctx context.Context, out io.Writer) error { return s.Model.load(ctx, s, out) }

// do runs the server's program with other arguments, in a folder that holds the files of its model.
func (s *Server) do(ctx context.Context, out io.Writer, args ...string) error {
	return s.doAside(ctx, out, out, args...)
}

// doAside does it with what the program tells beside its answer going elsewhere.
func (s *Server) doAside(ctx context.Context, out, aside io.Writer, args ...string) error {
	dir, err := os.MkdirTemp("", "memwall-run-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // it is of temporary files
	for name, text := range s.Model.Files {
		const ownersAlone = 0o600
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), []byte(text), ownersAlone); err != nil {
			return err
		}
	}
	cmd := s.command(args, out)
	cmd.Dir, cmd.Stderr = dir, aside
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		end(cmd)
		<-ended //nolint:errcheck // it was ended
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", argv.Line(append([]string{filepath.Base(s.Program)}, args...)), err)
	}
	return nil
}

// absolute is a file by a path that holds in every folder; others stay.
func absolute(name string) string {
	if _, err := os.Stat(name); err != nil {
		return name
	}
	if whole, err := filepath.Abs(name); err == nil {
		return whole
	}
	return name
}
