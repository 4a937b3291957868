//go:build unix

package regular_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/memwall/memwall/source/regular"
)

// TestOpen: files are opened, and links to them; pipes, folders and devices are not, at once.
func TestOpen(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, err := range []error{os.WriteFile("file", []byte("x"), 0o600), os.Symlink("file", "link"), syscall.Mkfifo("pipe", 0o600),
		os.Symlink("pipe", "toPipe"), os.Mkdir("folder", 0o700)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, opens := range map[string]bool{"file": true, "link": true, "pipe": false, "toPipe": false, "folder": false,
		"/dev/zero": false, "missing": false} {
		for _, open := range []func(string) (*os.File, error){regular.Open,
			func(n string) (*os.File, error) { return regular.OpenPrivate(n, os.O_RDWR) }} {
			f, err := open(name)
			if (err == nil) != opens {
				t.Errorf("%s: %v", name, err)
			}
			if err == nil {
				f.Close()
			}
		}
	}
}

// TestPrivate: what is made is its owner's alone; what is there stays as it is.
func TestPrivate(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	dir := filepath.Join(t.TempDir(), "a", "b")
	if err := regular.Folder(dir); err != nil {
		t.Fatal(err)
	}
	if f, err := regular.OpenPrivate(filepath.Join(dir, "opened"), os.O_RDWR|os.O_CREATE); err != nil {
		t.Error(err)
	} else {
		f.Close()
	}
	if err := os.WriteFile(filepath.Join(dir, "old"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]fs.FileMode{"made": 0o600, "opened": 0o600, "old": 0o644} {
		if err := regular.Make(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	for d := dir; len(d) > len(filepath.Dir(filepath.Dir(dir))); d = filepath.Dir(d) {
		if info, err := os.Stat(d); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", d, info.Mode(), err)
		}
	}
}
