package tty_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/memwall/memwall/internal/tty"
)

// TestIs: neither the device that keeps nothing, nor a pipe, nor a file is a terminal.
func TestIs(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	file, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, f := range []*os.File{null, r, w, file} {
		if tty.Is(f) || tty.Columns(f) != 0 {
			t.Errorf("%s is a terminal of %d columns", f.Name(), tty.Columns(f))
		}
	}
}

// TestTerminal: the other side of a pseudo-terminal is one.
func TestTerminal(t *testing.T) {
	f, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here")
	}
	defer f.Close()
	if !tty.Is(f) {
		t.Error("a pseudo-terminal is none")
	}
}
