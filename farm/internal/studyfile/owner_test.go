//go:build unix

package studyfile

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestOwnersAlone: results and what lies beside them are their owner's alone, whatever the umask.
func TestOwnersAlone(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	where := filepath.Join(t.TempDir(), "results.db")
	f, err := Create(context.Background(), where, &about)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Put(context.Background(), []Row{row(1)}); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(where + "*")
	for _, name := range files {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if len(files) < 2 {
		t.Errorf("%v", files)
	}
}
