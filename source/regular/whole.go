package regular

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Whole is a file that takes its name when all of it is on the disk. Until then what bears the name stays as it is, whatever happens:
// an error, a full disk, the end of the process, a loss of power.
type Whole struct {
	on   disk
	file diskFile
	name string
	mode fs.FileMode
	err  error // of the first write that failed
}

// Begin begins a file. One that it replaces keeps its permissions, a link to one stays a link, and a new file has those of mode.
func Begin(name string, mode fs.FileMode) (*Whole, error) { return begin(system{}, name, mode) }

// disk is what a Whole asks of the system.
type disk interface {
	// kept gives the file that a name leads to, by way of links, and its mode; an error where there is none.
	kept(name string) (string, fs.FileMode, error)
	create(dir, pattern string) (diskFile, error)
	rename(from, to string) error
	remove(name string) error
	// settle puts the names in a folder on the disk.
	settle(dir string) error
}

type diskFile interface {
	io.WriteCloser
	Name() string
	Chmod(fs.FileMode) error
	Sync() error
}

func begin(on disk, name string, mode fs.FileMode) (*Whole, error) {
	if to, is, err := on.kept(name); err == nil {
		name, mode = to, is.Perm()
	}
	f, err := on.create(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return nil, err
	}
	return &Whole{on: on, file: f, name: name, mode: mode}, nil
}

// Write adds to the file. What failed once cannot be committed.
func (w *Whole) Write(b []byte) (int, error) {
	n, err := w.file.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	if err != nil && w.err == nil {
		w.err = err
	}
	return n, err
}

// Commit gives the file its name. Its bytes are on the disk before the name leads to them: a rename that outlives them would leave an
// empty file.
func (w *Whole) Commit() error {
	err := w.err
	if err == nil {
		err = w.file.Chmod(w.mode)
	}
	if err == nil {
		err = w.file.Sync()
	}
	if closed := w.file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = w.on.rename(w.file.Name(), w.name)
	}
	if err != nil {
		_ = w.on.remove(w.file.Name()) // the error before it is the one to tell
		return err
	}
	return w.on.settle(filepath.Dir(w.name))
}

// Abandon removes what was written.
func (w *Whole) Abandon() {
	_ = w.file.Close() // nobody wants what was written
	_ = w.on.remove(w.file.Name())
}

// system is the disk of this machine.
type system struct{}

func (system) kept(name string) (string, fs.FileMode, error) {
	to, err := filepath.EvalSymlinks(name)
	if err != nil {
		return "", 0, err
	}
	info, err := os.Stat(to)
	if err != nil {
		return "", 0, err
	}
	return to, info.Mode(), nil
}

func (system) create(dir, pattern string) (diskFile, error) { return os.CreateTemp(dir, pattern) }
func (system) rename(from, to string) error                 { return os.Rename(from, to) }
func (system) remove(name string) error                     { return os.Remove(name) }

// settle asks that names last. Where a folder cannot be synced, the file is whole under its name all the same: only a loss of power
// within seconds could bring back the old one.
func (system) settle(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return nil //nolint:nilerr // a folder that can be written and not read
	}
	_ = d.Sync() // Windows and some network disks refuse
	return d.Close()
}
