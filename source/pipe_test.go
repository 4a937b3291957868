//go:build !windows

package source

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/memwall/memwall"
)

// TestPipe: what would hang when it is opened is refused before.
func TestPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.gguf")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	check(t, refused(t, New(Options{}), pipe), memwall.BadFile, "not a regular file")
}
