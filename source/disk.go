package source

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/memwall/memwall/format"
)

// disk opens files, below a root or anywhere. Paths use slashes. Below a root, what lies outside of it does
// not exist.
type disk struct {
	root *os.Root
	base string // absolute path of the root
}

// handle is an open file.
type handle interface {
	io.Reader
	io.ReaderAt
	io.Closer
}

func openDisk(root string) (*disk, error) {
	if root == "" {
		return &disk{}, nil
	}
	base, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	r, err := os.OpenRoot(base)
	if err != nil {
		return nil, err
	}
	return &disk{root: r, base: base}, nil
}

func (d *disk) close() {
	if d.root != nil {
		d.root.Close()
	}
}

// place turns a path into what the root understands; ok is false for paths outside.
func (d *disk) place(path string) (local string, ok bool) {
	local = filepath.FromSlash(path)
	if d.root == nil {
		return local, true
	}
	if filepath.IsAbs(local) {
		rel, err := filepath.Rel(d.base, local)
		if err != nil {
			return "", false
		}
		local = rel
	}
	local = filepath.Clean(local)
	return local, filepath.IsLocal(local)
}

func (d *disk) stat(path string) (fs.FileInfo, error) {
	local, ok := d.place(path)
	switch {
	case !ok:
		return nil, fs.ErrNotExist
	case d.root != nil:
		return d.root.Stat(local)
	}
	return os.Stat(local)
}

func (d *disk) exists(path string) bool {
	_, err := d.stat(path)
	return err == nil
}

func (d *disk) isFolder(path string) bool {
	info, err := d.stat(path)
	return err == nil && info.IsDir()
}

// file opens a regular file and gives its size. Pipes and devices are refused, because they may never end.
func (d *disk) file(path string) (handle, int64, error) {
	info, err := d.stat(path)
	if err != nil {
		return nil, 0, d.notFound(path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, 0, badFile(filepath.Base(path), "", "is no regular file", "give a file")
	}
	local, _ := d.place(path)
	var f *os.File
	if d.root != nil {
		f, err = d.root.Open(local)
	} else {
		f, err = os.Open(local)
	}
	if err != nil {
		return nil, 0, d.notFound(path, err)
	}
	return f, info.Size(), nil
}

func (d *disk) open(path string) (handle, error) {
	f, _, err := d.file(path)
	return f, err
}

// maxText is the size of the largest configuration that is read; families refuse 8 MiB and more.
const maxText = 8<<20 + 1

// text reads a small file.
func (d *disk) text(path string) ([]byte, error) {
	f, err := d.open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxText))
	if err != nil {
		return nil, d.notFound(path, err)
	}
	return b, nil
}

// maxEntries is how many files of a folder are looked at.
const maxEntries = 1 << 14

// list names the files of a folder, sorted.
func (d *disk) list(path string) ([]string, error) {
	local, ok := d.place(path)
	if !ok {
		return nil, d.notFound(path, fs.ErrNotExist)
	}
	var f *os.File
	var err error
	if d.root != nil {
		f, err = d.root.Open(local)
	} else {
		f, err = os.Open(local)
	}
	if err != nil {
		return nil, d.notFound(path, err)
	}
	defer f.Close()
	entries, err := f.ReadDir(maxEntries)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, d.notFound(path, err)
	}
	return fileNames(entries), nil
}

// head gives the first bytes of a file, for format.Detect.
func (d *disk) head(path string) []byte {
	f, err := d.open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	b := make([]byte, format.DetectBytes)
	n, _ := io.ReadFull(f, b)
	return b[:n]
}

// absolute is a path as the system sees it, for naming what "." is.
func (d *disk) absolute(path string) string {
	if d.root != nil {
		if local, ok := d.place(path); ok {
			return filepath.ToSlash(filepath.Join(d.base, local))
		}
		return path
	}
	if abs, err := filepath.Abs(filepath.FromSlash(path)); err == nil {
		return filepath.ToSlash(abs)
	}
	return path
}

// home puts the home folder for a leading ~.
func home(path string) string {
	rest, ok := strings.CutPrefix(path, "~/")
	if !ok {
		return path
	}
	dir, err := os.UserHomeDir()
	if err != nil {
		return path
	}
	return filepath.ToSlash(dir) + "/" + rest
}
