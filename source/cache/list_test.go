package cache

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestContents: what is kept, by name, and what is cleared of it.
func TestContents(t *testing.T) {
	c := New(filepath.Join(t.TempDir(), "cache"), 1<<20)
	if got := c.Contents(""); len(got.Entries) != 0 || got.Bytes != 0 {
		t.Errorf("an empty cache holds %+v", got)
	}
	for i, name := range []string{"hub/acme/a", "hub/acme/b", "elsewhere"} {
		c.Put(Record{Key: name, Size: 10, About: name, At: time.Unix(int64(i), 0)}, make([]byte, 10))
	}
	_ = os.WriteFile(filepath.Join(c.Dir(), "x"+entryExt), []byte("nonsense"), 0o600)
	if got := c.Contents(""); len(got.Entries) != 4 || got.Entries[0].What != "elsewhere" || got.Limit != 1<<20 {
		t.Errorf("%+v", got)
	}
	gone, err := c.Clear("ACME")
	if err != nil || len(gone.Entries) != 2 || gone.Bytes <= 0 {
		t.Errorf("cleared %+v, %v", gone, err)
	}
	if gone, err = c.Clear(""); err != nil || len(gone.Entries) != 2 || len(c.files()) != 0 {
		t.Errorf("cleared %+v, %v", gone, err)
	}
}
