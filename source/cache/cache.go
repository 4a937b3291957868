// Package cache stores on disk what was fetched from services: listings, configurations and the leading parts of files.
// It does not access the network. See list.go for listing its contents.
package cache

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/memwall/memwall/format/gguf"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/source/regular"
)

// Cache keeps what was fetched: listings, configurations and the first part of files, each in a file of its own. What
// is damaged is dropped and fetched again; two programs may write at once, because files appear whole.
type Cache struct {
	dir   string
	limit int64

	mu      sync.Mutex
	unswept int64 // bytes written since what is too much was last removed; below zero before the first time
}

// DefaultLimit is how many bytes a cache holds.
const DefaultLimit = 1 << 30

// New keeps at most limit bytes in a folder, which is made when something is kept.
func New(dir string, limit int64) *Cache {
	return &Cache{dir: dir, limit: limit, unswept: -1}
}

// Dir is the folder of the cache.
func (c *Cache) Dir() string { return c.dir }

// Record says what an entry is. It stands before its bytes, in one line of JSON.
type Record struct {
	Key   string     `json:"key"`
	ETag  string     `json:"etag,omitempty"`
	Size  int64      `json:"size"` // of the whole file
	At    time.Time  `json:"at"`   // when the service last said so
	Bytes int64      `json:"bytes"`
	Sum   uint32     `json:"crc32c"`
	Gaps  []gguf.Gap `json:"gaps,omitempty"` // stretches of the file that are left out
	About string     `json:"about"`          // for people
}

const (
	cacheMagic = "memwall cache 1\n"
	entryExt   = ".entry"
	tempExt    = ".part"
	maxRecord  = 16 << 10
	maxBytes   = 128 << 20 // of an entry
)

var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

func (c *Cache) path(key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(c.dir, hex.EncodeToString(sum[:16])+entryExt)
}

// Get gives an entry; ok is false when there is none that is whole.
func (c *Cache) Get(key string) (r Record, data []byte, ok bool) {
	if c == nil {
		return r, nil, false
	}
	name := c.path(key)
	f, err := regular.Open(name)
	if err != nil {
		return r, nil, false
	}
	defer f.Close()
	r, data, err = readEntry(f)
	if err != nil || r.Key != key {
		f.Close()
		_ = os.Remove(name)
		return Record{}, nil, false
	}
	used(name)
	return r, data, true
}

// used marks an entry as used today, so that old ones are removed first.
func used(name string) {
	if info, err := os.Stat(name); err == nil && time.Since(info.ModTime()).Abs() > time.Hour {
		now := time.Now()
		_ = os.Chtimes(name, now, now) // an entry that cannot be marked is only removed earlier
	}
}

var errDamaged = errors.New("damaged")

func readEntry(f *os.File) (Record, []byte, error) {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxBytes+maxRecord {
		return Record{}, nil, errDamaged
	}
	all := make([]byte, info.Size())
	if _, err := io.ReadFull(f, all); err != nil {
		return Record{}, nil, errDamaged
	}
	r, data, ok := parseEntry(all)
	if !ok || int64(len(data)) != r.Bytes || crc32.Checksum(data, castagnoli()) != r.Sum || r.Bytes > r.Size {
		return Record{}, nil, errDamaged
	}
	return r, data, nil
}

// parseEntry parts the record from the bytes.
func parseEntry(all []byte) (r Record, data []byte, ok bool) {
	rest, ok := bytes.CutPrefix(all, []byte(cacheMagic))
	if !ok {
		return r, nil, false
	}
	line, data, ok := bytes.Cut(rest, []byte("\n"))
	if !ok || len(line) > maxRecord || json.Unmarshal(line, &r) != nil {
		return r, nil, false
	}
	return r, data, true
}

// Put keeps an entry. A cache that cannot be written keeps nothing, which costs time and no answer.
func (c *Cache) Put(r Record, data []byte) {
	if c == nil || int64(len(data)) > c.limit/4 {
		return
	}
	r.Bytes, r.Sum = int64(len(data)), crc32.Checksum(data, castagnoli())
	line, err := json.Marshal(r)
	if err != nil || len(line) > maxRecord {
		return
	}
	if c.write(c.path(r.Key), line, data) == nil {
		c.sweep(int64(len(data)))
	}
}

// write makes a file that appears whole or not at all.
func (c *Cache) write(name string, line, data []byte) error {
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(c.dir, "*"+tempExt)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone already where all went well
	for _, b := range [][]byte{[]byte(cacheMagic), line, []byte("\n"), data} {
		if _, err := f.Write(b); err != nil {
			f.Close()
			return err
		}
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// sweep removes the entries that were used least recently, until the rest is within the limit, and what a writer that
// was killed left behind. It runs at the first write and then after some.
func (c *Cache) sweep(written int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := c.unswept < 0
	c.unswept = max(0, c.unswept) + written
	if !first && c.unswept < c.limit/64 {
		return
	}
	c.unswept = 0
	now, files := time.Now(), c.files()
	var sum int64
	for i, f := range files {
		sum += f.size
		if f.used.Sub(now) > time.Hour { // marked before the clock was set back: nobody knows when
			files[i].used = time.Time{}
		}
	}
	stable.Sort(files, func(a, b stored) int { return a.used.Compare(b.used) })
	for _, f := range files {
		abandoned := strings.HasSuffix(f.name, tempExt) && now.Sub(f.used).Abs() > time.Hour
		if sum <= c.limit && !abandoned {
			continue
		}
		if os.Remove(filepath.Join(c.dir, f.name)) == nil {
			sum -= f.size
		}
	}
}

// stored is a file of the cache.
type stored struct {
	name string
	size int64
	used time.Time
}

func (c *Cache) files() (out []stored) {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && info.Mode().IsRegular() && (strings.HasSuffix(e.Name(), entryExt) || strings.HasSuffix(e.Name(), tempExt)) {
			out = append(out, stored{e.Name(), info.Size(), info.ModTime()})
		}
	}
	return out
}
