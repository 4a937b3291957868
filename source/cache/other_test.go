//go:build unix

package cache

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestOtherFiles: a pipe under an entry's name is not an entry, at once; what is kept after it is an entry again.
func TestOtherFiles(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	c := New(filepath.Join(t.TempDir(), "kept"), 1<<20)
	c.Put(Record{Key: "other", Size: 5000}, []byte("x"))
	name := c.path("k")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := c.Get("k"); ok {
		t.Error("a pipe is an entry")
	}
	if got := head(name); got.About != "damaged" {
		t.Errorf("a pipe is %+v", got)
	}
	if got := c.Contents(""); len(got.Entries) != 1 {
		t.Errorf("%+v", got.Entries)
	}
	c.Put(Record{Key: "k", Size: 5000}, []byte("y"))
	if _, data, ok := c.Get("k"); !ok || string(data) != "y" {
		t.Errorf("kept over a pipe: %q, %v", data, ok)
	}
	for path, want := range map[string]fs.FileMode{c.dir: 0o700, name: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}
