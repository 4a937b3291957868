package remote

import (
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
)

// tree is a place with files as package source reads it.
type tree struct {
	// find gives a file of the place; fs.ErrNotExist when there is none, other errors when that cannot be told.
	find func(name string) (*file, error)
	// names lists the files of the place; nil: they cannot be listed.
	names func() ([]string, error)

	mu   sync.Mutex
	open map[string]*file
}

// file finds a file once.
func (t *tree) file(op, name string) (*file, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	if f := t.keep(name, nil); f != nil {
		return f, nil
	}
	f, err := t.find(name)
	if err != nil {
		return nil, &fs.PathError{Op: op, Path: name, Err: err}
	}
	return t.keep(name, f), nil
}

// keep gives the file that is open under a name, or opens f under it.
func (t *tree) keep(name string, f *file) *file {
	t.mu.Lock()
	defer t.mu.Unlock()
	if have := t.open[name]; have != nil || f == nil {
		return have
	}
	if t.open == nil {
		t.open = map[string]*file{}
	}
	t.open[name] = f
	return f
}

// Open opens a file or a folder.
func (t *tree) Open(name string) (fs.File, error) {
	if name == "." {
		return &folder{tree: t}, nil
	}
	f, err := t.file("open", name)
	if err != nil {
		return nil, err
	}
	return f.open()
}

// Stat tells the size of a file.
func (t *tree) Stat(name string) (fs.FileInfo, error) {
	if name == "." {
		return folderInfo{}, nil
	}
	f, err := t.file("stat", name)
	if err != nil {
		return nil, err
	}
	size, err := f.Size()
	if err != nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	return info{path.Base(name), size}, nil
}

// Close ends all readings.
func (t *tree) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range t.open {
		f.finish()
	}
	return nil
}

// folder is the place itself.
type folder struct {
	tree *tree
	left []fs.DirEntry
	read bool
}

func (d *folder) Stat() (fs.FileInfo, error) { return folderInfo{}, nil }
func (d *folder) Read([]byte) (int, error)   { return 0, fs.ErrInvalid }
func (d *folder) Close() error               { return nil }

// ReadDir lists the files that lie in the place itself, not below it.
func (d *folder) ReadDir(n int) ([]fs.DirEntry, error) {
	if !d.read {
		if d.tree.names == nil {
			return nil, fs.ErrNotExist
		}
		names, err := d.tree.names()
		if err != nil {
			return nil, err
		}
		d.read = true
		for _, name := range slices.Sorted(slices.Values(names)) {
			if !strings.Contains(name, "/") {
				d.left = append(d.left, fs.FileInfoToDirEntry(info{name: name}))
			}
		}
	}
	if n <= 0 {
		n = len(d.left)
	} else if len(d.left) == 0 {
		return nil, io.EOF
	}
	out := d.left[:min(n, len(d.left))]
	d.left = d.left[len(out):]
	return out, nil
}

type folderInfo struct{ info }

func (folderInfo) Name() string      { return "." }
func (folderInfo) Mode() fs.FileMode { return fs.ModeDir | 0o555 }
func (folderInfo) IsDir() bool       { return true }
