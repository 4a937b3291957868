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

// maxFile bounds the bytes read of a file, maxEntries the entries of a folder.
const (
	maxFile    = 64 << 10
	maxEntries = 1024
)

// read returns the beginning of a file; "" if it cannot be read. Kernels compute such files on reading, so that reads are bounded
// in time too.
func (m Machine) read(name string) string { return m.readUpTo(name, maxFile) }

func (m Machine) readUpTo(name string, most int64) string {
	if m.Files == nil {
		return ""
	}
	f, err := m.Files.Open(name)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // only read
	text, _ := io.ReadAll(io.LimitReader(f, most))
	return string(text)
}

// line reads a file of one line.
func (m Machine) line(name string) string { return strings.TrimSpace(m.readUpTo(name, 4096)) }

// number reads a file containing one number.
func (m Machine) number(name string) (int64, bool) {
	n, err := strconv.ParseInt(m.line(name), 0, 64)
	return n, err == nil
}

// size reads a file containing a number of bytes; 0 if there is none.
func (m Machine) size(name string) unit.Bytes {
	n, ok := m.number(name)
	if !ok || n < 0 || n > maxSize {
		return 0
	}
	return unit.Bytes(n)
}

// maxSize is the largest plausible memory size.
const maxSize = 1 << 50

// list returns the entries of a folder with a prefix, in numeric order.
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

// keyed returns the value of "key: value" in a text of such lines.
func keyed(text, key string) string {
	for line := range strings.SplitSeq(text, "\n") {
		k, v, ok := strings.Cut(line, ":")
		if ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
