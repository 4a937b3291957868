//go:build unix

package record

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestOwnersAlone: a recording is its owner's alone, whatever the umask.
func TestOwnersAlone(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	name := filepath.Join(t.TempDir(), "day.jsonl")
	r, err := Create(name, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Add(moment(1), nil); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(name + "*")
	for _, f := range files {
		if info, err := os.Stat(f); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f, info.Mode(), err)
		}
	}
	if len(files) != 1 {
		t.Errorf("%v", files)
	}
}
