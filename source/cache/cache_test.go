package cache

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestCacheDamage: an entry that is changed in any byte, or cut anywhere, is dropped.
func TestCacheDamage(t *testing.T) {
	c := New(t.TempDir(), 1<<20)
	data := bytes.Repeat([]byte("header"), 100)
	keep := func() { c.Put(Record{Key: "k", Size: 5000, At: time.Now()}, data) }
	keep()
	name := c.path("k")
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(whole); i += 7 {
		bad := bytes.Clone(whole)
		bad[i] ^= 1
		for _, b := range [][]byte{bad, whole[:i]} {
			_ = os.WriteFile(name, b, 0o600)
			if r, got, ok := c.Get("k"); ok && (!bytes.Equal(got, data) || r.Key != "k") {
				t.Fatalf("byte %d: wrong bytes are believed", i)
			} else if !ok {
				if _, err := os.Stat(name); err == nil {
					t.Fatalf("byte %d: the damaged entry stays", i)
				}
			}
		}
	}
	keep()
	if _, got, ok := c.Get("k"); !ok || !bytes.Equal(got, data) {
		t.Error("fetched again, and not kept")
	}
	if _, _, ok := c.Get("other"); ok {
		t.Error("another key's entry")
	}
}

// TestCacheWriters: many at once, and every reader sees something whole or nothing.
func TestCacheWriters(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for w := range 8 {
		all.Go(func() {
			c := New(dir, 1<<20) // as another process has it
			for i := range 50 {
				c.Put(Record{Key: "k", Size: 1 << 20}, bytes.Repeat([]byte{byte(w)}, 1000+w))
				if _, got, ok := c.Get("k"); ok && len(got) != 1000+int(got[0]) {
					t.Errorf("%d bytes of writer %d at %d", len(got), got[0], i)
				}
			}
		})
	}
	all.Wait()
	if left, _ := filepath.Glob(filepath.Join(dir, "*"+tempExt)); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestCacheLimit: the entries used least recently go first; what no writer finished goes too.
func TestCacheLimit(t *testing.T) {
	c := New(t.TempDir(), 100<<10)
	long := time.Now().Add(-48 * time.Hour)
	for i := range 40 {
		key := fmt.Sprint(i)
		c.Put(Record{Key: key, Size: 10 << 10}, make([]byte, 10<<10))
		_ = os.Chtimes(c.path(key), long.Add(time.Duration(i)*time.Minute), long.Add(time.Duration(i)*time.Minute))
	}
	part := filepath.Join(c.dir, "x"+tempExt)
	_ = os.WriteFile(part, nil, 0o600)
	_ = os.Chtimes(part, long, long)
	c.Put(Record{Key: "last", Size: 10 << 10}, make([]byte, 10<<10))
	var sum int64
	for _, f := range c.files() {
		sum += f.size
		if strings.HasSuffix(f.name, tempExt) {
			t.Errorf("%s stays", f.name)
		}
	}
	if sum > 100<<10 {
		t.Errorf("%d bytes in a cache of %d", sum, 100<<10)
	}
	if _, _, ok := c.Get("last"); !ok {
		t.Error("the newest is gone")
	}
	if _, _, ok := c.Get("0"); ok {
		t.Error("the oldest stays")
	}
}

// TestCacheClockSetBack: entries of a time to come do not outlast those of today, and are marked anew where they are used.
func TestCacheClockSetBack(t *testing.T) {
	c := New(t.TempDir(), 100<<10)
	ahead := time.Now().Add(48 * time.Hour)
	for i := range 9 {
		key := fmt.Sprint(i)
		c.Put(Record{Key: key, Size: 10 << 10}, make([]byte, 10<<10))
		_ = os.Chtimes(c.path(key), ahead, ahead)
	}
	if _, _, ok := c.Get("0"); !ok {
		t.Error("an entry of a time to come is not read")
	}
	for _, key := range []string{"new", "newer", "newest"} {
		c.Put(Record{Key: key, Size: 10 << 10}, make([]byte, 10<<10))
	}
	for _, key := range []string{"0", "new", "newer", "newest"} {
		if _, _, ok := c.Get(key); !ok {
			t.Errorf("%s is gone, and entries of a time to come stay", key)
		}
	}
}
