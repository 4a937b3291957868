package source

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/format"
	"github.com/memwall/memwall/format/dropin"
)

// disk opens files: any on this machine, those below a root, or those of a remote place. Paths use slashes. Below a
// root, anything outside appears not to exist.
type disk struct {
	fsys  fs.FS     // nil for all paths that the process can read
	base  string    // absolute path of the root, or name of the place
	root  bool      // fsys is a root
	owned io.Closer // closed with the disk
	far   bool      // opening a file has high latency
	// families is as in Options.
	families func() ([]*dropin.Family, error)
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
	return &disk{fsys: r.FS(), base: base, root: true, owned: r}, nil
}

func (d *disk) close() {
	if d.owned != nil {
		d.owned.Close()
	}
}

// place converts a path for fsys; ok is false for paths outside it.
func (d *disk) place(name string) (local string, ok bool) {
	if d.fsys == nil {
		return filepath.FromSlash(name), true
	}
	if abs := filepath.FromSlash(name); d.root && filepath.IsAbs(abs) {
		rel, err := filepath.Rel(d.base, abs)
		if err != nil {
			return "", false
		}
		name = filepath.ToSlash(rel)
	}
	name = path.Clean(name)
	return name, fs.ValidPath(name)
}

func (d *disk) stat(name string) (fs.FileInfo, error) {
	local, ok := d.place(name)
	switch {
	case !ok:
		return nil, fs.ErrNotExist
	case d.fsys != nil:
		return fs.Stat(d.fsys, local)
	}
	return os.Stat(local)
}

func (d *disk) openFile(name string) (fs.File, error) {
	local, ok := d.place(name)
	switch {
	case !ok:
		return nil, fs.ErrNotExist
	case d.fsys != nil:
		return d.fsys.Open(local)
	}
	return os.Open(local)
}

// exists reports whether a file exists; it returns an error if that cannot be determined, such as when a server does
// not answer.
func (d *disk) exists(name string) (bool, error) {
	_, err := d.stat(name)
	var told *memwall.Error
	if errors.As(err, &told) {
		return false, told
	}
	return err == nil, nil
}

func (d *disk) isFolder(name string) bool {
	info, err := d.stat(name)
	return err == nil && info.IsDir()
}

// file opens a regular file and returns its size. Pipes and devices are rejected, since reading them may not end.
func (d *disk) file(name string) (handle, int64, error) {
	info, err := d.stat(name)
	if err != nil {
		return nil, 0, d.notFound(name, err)
	}
	if !info.Mode().IsRegular() {
		return nil, 0, badFile(path.Base(name), "", "is not a regular file", "give a file")
	}
	f, err := d.openFile(name)
	if err != nil {
		return nil, 0, d.notFound(name, err)
	}
	h, ok := f.(handle)
	if !ok {
		f.Close()
		return nil, 0, badFile(path.Base(name), "", "is not a file that can be read at any offset", "give a file")
	}
	return h, info.Size(), nil
}

func (d *disk) open(name string) (handle, error) {
	f, _, err := d.file(name)
	return f, err
}

// maxText is the largest configuration file read, plus one; families reject 8 MiB and more.
const maxText = 8<<20 + 1

// text reads a small file.
func (d *disk) text(name string) ([]byte, error) {
	f, err := d.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxText))
	if err != nil {
		return nil, d.notFound(name, err)
	}
	return b, nil
}

// maxEntries is the maximum number of entries read from a folder.
const maxEntries = 1 << 14

// list returns the names of the files of a folder, sorted.
func (d *disk) list(name string) ([]string, error) {
	f, err := d.openFile(name)
	if err != nil {
		return nil, d.notFound(name, err)
	}
	defer f.Close()
	dir, ok := f.(fs.ReadDirFile)
	if !ok {
		return nil, d.notFound(name, fs.ErrNotExist)
	}
	entries, err := dir.ReadDir(maxEntries)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, d.notFound(name, err)
	}
	return fileNames(entries), nil
}

// head returns the first bytes of a file, for format.Detect.
func (d *disk) head(name string) []byte {
	f, err := d.open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	b := make([]byte, format.DetectBytes)
	n, _ := io.ReadFull(f, b)
	return b[:n]
}

// absolute returns the path as the system sees it, to name a model after ".".
func (d *disk) absolute(name string) string {
	if d.fsys != nil {
		if local, ok := d.place(name); ok {
			return path.Join(filepath.ToSlash(d.base), local)
		}
		return name
	}
	if abs, err := filepath.Abs(filepath.FromSlash(name)); err == nil {
		return filepath.ToSlash(abs)
	}
	return name
}

// given returns a path as a command may use it; "" if it is not a file on this machine.
func (d *disk) given(name string) string {
	switch {
	case d.fsys != nil && !d.root:
		return ""
	case len(name) > 1:
		name = strings.TrimSuffix(name, "/")
	}
	if name == "" || strings.HasPrefix(name, "-") {
		name = strings.TrimSuffix("./"+name, "/")
	}
	return name
}

// home expands a leading ~.
func home(name string) string {
	rest, ok := strings.CutPrefix(name, "~/")
	if !ok {
		return name
	}
	dir, err := os.UserHomeDir()
	if err != nil {
		return name
	}
	return filepath.ToSlash(dir) + "/" + rest
}
