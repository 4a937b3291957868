package detect

import (
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/unit"
)

// maxFile bounds what is read of a file, maxEntries of a folder.
const (
	maxFile    = 64 << 10
	maxEntries = 1024
)

// read gives the beginning of a file; "" where it cannot be read. Kernels compute such files while they are read, so
// that the bound is one of time too.
func (m Machine) read(name string) string { return m.readUpTo(name, maxFile) }

func (m Machine) readUpTo(name string, most int64) string {
	if m.Files == nil {
		return ""
	}
	f, err := m.Files.Open(name)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // it was only read
	text, _ := io.ReadAll(io.LimitReader(f, most))
	return string(text)
}

// line is a file of one line.
func (m Machine) line(name string) string { return strings.TrimSpace(m.readUpTo(name, 4096)) }

// number is a file of one number.
func (m Machine) number(name string) (int64, bool) {
	n, err := strconv.ParseInt(m.line(name), 0, 64)
	return n, err == nil
}

// size is a file of one number of bytes; 0 where it says nothing.
func (m Machine) size(name string) unit.Bytes {
	n, ok := m.number(name)
	if !ok || n < 0 || n > maxSize {
		return 0
	}
	return unit.Bytes(n)
}

// maxSize bounds a memory that is believed.
const maxSize = 1 << 50

// list gives the entries of a folder that begin so, in order of their numbers.
func (m Machine) list(folder, prefix string) []string {
	if m.Files == nil {
		return nil
	}
	entries, err := fs.ReadDir(m.Files, folder)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries[:min(len(entries), maxEntries)] {
		if strings.HasPrefix(e.Name(), prefix) {
			out = append(out, path.Join(folder, e.Name()))
		}
	}
	stable.Sort(out, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	return out
}

// keyed finds "key: value" in a text of such lines.
func keyed(text, key string) string {
	for line := range strings.SplitSeq(text, "\n") {
		k, v, ok := strings.Cut(line, ":")
		if ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
