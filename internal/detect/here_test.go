//go:build unix

package detect

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// onPath puts an nvidia-smi of a few lines first on the path.
func onPath(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
}

// TestRun: programs that answer, fail, hang, leave children behind or print without end.
func TestRun(t *testing.T) {
	for _, c := range []struct {
		name, script string
		want         string
		fails        bool
	}{
		{"answers", "echo $LC_ALL $1", "C -q\n", false},
		{"fails", "echo half; echo wrong >&2; exit 9", "half\n", true},
		{"hangs", "echo half; sleep 60", "half\n", true},
		{"leaves a child with the pipe", "sleep 60 & echo done", "done\n", true},
		{"reads what nobody writes", "cat; echo end", "end\n", false},
	} {
		onPath(t, c.script)
		limit := 20 * time.Second // a busy machine may start a program late
		if c.fails {
			limit = 2 * time.Second
		}
		ctx, stop := context.WithTimeout(context.Background(), limit)
		out, err := run(ctx, "nvidia-smi", "-q")
		stop()
		if string(out) != c.want || (err != nil) != c.fails {
			t.Errorf("%s: %q, %v", c.name, out, err)
		}
	}
	onPath(t, "yes aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")
	ctx, stop := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer stop()
	if out, err := run(ctx, "nvidia-smi"); len(out) > maxOutput || err == nil {
		t.Errorf("endless: %d bytes, %v", len(out), err)
	}
	if _, err := run(context.Background(), "no-such-program-here"); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("absent: %v", err)
	}
}

// TestPath: a machine with a driver's files asks the program that the path names.
func TestPath(t *testing.T) {
	xml, err := filepath.Abs("testdata/nvidia-smi-rtx-3060-v12.xml")
	if err != nil {
		t.Fatal(err)
	}
	onPath(t, "cat "+xml)
	m := recorded{files: map[string]string{driver: "NVRM", "proc/meminfo": meminfo}}.machine()
	m.Run = run
	if got := m.Look(); !strings.HasPrefix(got.Words, "rtx-3060-12gb,") || len(got.Notes) != 0 {
		t.Errorf("%q %q", got.Words, got.Notes)
	}
	onPath(t, "head -c 700 "+xml)
	if got := m.Look(); !strings.HasPrefix(got.Words, "cpu,") || len(got.Notes) != 1 {
		t.Errorf("broken off: %q %q", got.Words, got.Notes)
	}
}
