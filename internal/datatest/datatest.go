// Package datatest reads tables that tests compare with: the repository's own, and measurements that are not part of it, in a folder that
// MEMWALL_SHARED names.
package datatest

import (
	"compress/gzip"
	"encoding/csv"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/memwall/memwall/internal/packtext"
)

// Path returns where a file of the shared data is; "" without the folder.
func Path(name string) string {
	dir := os.Getenv("MEMWALL_SHARED")
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "data", name)
}

// Shared reads a table of the shared data; nil without the folder.
func Shared(t testing.TB, name string) []map[string]string {
	t.Helper()
	if path := Path(name); path != "" {
		return Table(t, path, ',')
	}
	return nil
}

// Table reads rows of separated cells under a line of column names, as a map each.
func Table(t testing.TB, path string, comma rune) (out []map[string]string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	r := csv.NewReader(f)
	r.Comma, r.LazyQuotes = comma, comma == '\t'
	if comma == '\t' {
		r.Comment = '#'
	}
	lines, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines[1:] {
		m := map[string]string{}
		for i, name := range lines[0] {
			m[name] = l[i]
		}
		out = append(out, m)
	}
	return out
}

// Unpacked reads a file that is compressed with gzip.
func Unpacked(t testing.TB, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Packed compares NAME.gz, which a program carries, with the text NAME beside it; with update it writes the pack.
func Packed(t testing.TB, name string, update bool) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if update {
		if err := os.WriteFile(name+".gz", packtext.Pack(string(text)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if string(Unpacked(t, name+".gz")) != string(text) {
		t.Errorf("%s changed, and its pack did not: go test -run Pack -update-pack packs it", name)
	}
}
