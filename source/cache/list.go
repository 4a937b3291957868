package cache

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/source/regular"
	"github.com/memwall/memwall/unit"
)

// Contents are what a cache holds.
type Contents struct {
	Dir     string     `json:"dir"`
	Bytes   unit.Bytes `json:"bytes"`
	Limit   unit.Bytes `json:"limit_bytes"`
	Entries []Entry    `json:"entries"`
}

// Entry is one thing that is kept.
type Entry struct {
	What  string     `json:"what"`
	Bytes unit.Bytes `json:"bytes"`
	At    time.Time  `json:"at"` // when the service last said so

	file string
}

// Contents lists the entries whose names hold the filter, the newest first.
func (c *Cache) Contents(filter string) *Contents {
	out := &Contents{Dir: c.dir, Limit: unit.Bytes(c.limit), Entries: []Entry{}}
	for _, f := range c.files() {
		r := head(filepath.Join(c.dir, f.name))
		if !strings.Contains(strings.ToLower(r.About), strings.ToLower(filter)) {
			continue
		}
		out.Bytes += unit.Bytes(f.size)
		out.Entries = append(out.Entries, Entry{r.About, unit.Bytes(f.size), r.At, f.name})
	}
	stable.Sort(out.Entries, func(a, b Entry) int { return b.At.Compare(a.At) })
	return out
}

// head reads the record of an entry; that of a damaged one says so.
func head(name string) Record {
	damaged := Record{About: "damaged"}
	f, err := regular.Open(name)
	if err != nil {
		return damaged
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, len(cacheMagic)+maxRecord+1)
	start, err := in.ReadSlice('\n')
	if err != nil || string(start) != cacheMagic {
		return damaged
	}
	line, err := in.ReadSlice('\n')
	var r Record
	if err != nil || json.Unmarshal(line, &r) != nil {
		return damaged
	}
	return r
}

// Clear removes the entries whose names hold the filter, "" for all, and says what went.
func (c *Cache) Clear(filter string) (*Contents, error) {
	out := c.Contents(filter)
	for _, e := range out.Entries {
		if err := os.Remove(filepath.Join(c.dir, e.file)); err != nil && !os.IsNotExist(err) {
			return nil, err
		}
	}
	return out, nil
}
