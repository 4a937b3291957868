package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// entry is a file of an archive.
type entry struct {
	name string
	mode fs.FileMode
	data []byte
}

// papers are the texts that go with every binary.
func papers(notices []byte) ([]entry, error) {
	all := []entry{{"THIRD_PARTY_NOTICES.txt", 0o644, notices}}
	for _, name := range []string{"LICENSE", "README.md"} {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		all = append(all, entry{name, 0o644, data})
	}
	return all, nil
}

// entries are the files of a target's archive, by name.
func (t target) entries(version string, binary []byte, lists ...[]entry) []entry {
	folder := t.stem(version) + "/"
	out := []entry{{folder + t.binary(), 0o755, binary}}
	for _, l := range lists {
		out = append(out, under(folder, l)...)
	}
	slices.SortFunc(out, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	return out
}

// pack makes the archive that the system's own tools open. Every file has the time of the commit, and
// nothing in it tells of who packed it or when.
func (t target) pack(entries []entry, at time.Time) ([]byte, error) {
	if t.os == "windows" {
		return zipOf(entries, at)
	}
	return tarOf(entries, at)
}

func tarOf(entries []entry, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(z)
	for _, e := range entries {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: e.name, Mode: int64(e.mode), Size: int64(len(e.data)), ModTime: at,
			Format: tar.FormatUSTAR}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	err = z.Close()
	return b.Bytes(), err
}

func zipOf(entries []entry, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: at}
		h.SetMode(e.mode)
		f, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(e.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// writeSums writes SHA256SUMS as sha256sum prints it.
func writeSums(dir string, names []string) error {
	var b strings.Builder
	for _, n := range names {
		data, err := os.ReadFile(filepath.Join(dir, n))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(data), n)
	}
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(b.String()), 0o644)
}
