//go:build unix

package source

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/source/regular"
)

// TestPipe: what would hang when it is opened is refused before.
func TestPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.gguf")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	check(t, refused(t, New(Options{}), pipe), memwall.BadFile, "not a regular file")
}

// TestTracesOfPipes: a pipe is read once and kept; one into which nobody writes is refused, and waits for nobody.
func TestTracesOfPipes(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	s := &Traces{}
	if _, err := s.Trace(pipe); err == nil || !strings.Contains(err.Error(), "nobody writes into it") {
		t.Errorf("without a writer: %v", err)
	}
	held, err := regular.OpenPipe(pipe) // so that what is written stays
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := os.WriteFile(pipe, []byte("a line\n"), 0); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r, err := s.Trace(pipe)
		if err != nil {
			t.Fatal(err)
		}
		if text, _ := io.ReadAll(r); string(text) != "a line\n" {
			t.Errorf("read %q", text)
		}
	}
}
