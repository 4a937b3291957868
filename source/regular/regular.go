// Package regular opens regular files only, and creates files and folders that only their owner can read. Anything may
// exist under a name in a cache or settings folder, and opening a pipe there must not block.
package regular

import (
	"errors"
	"io/fs"
	"os"
)

// errOther is what is not a regular file.
var errOther = errors.New("is not a regular file")

// Open opens a regular file to read it, and never waits for a pipe's other end. Errors are *fs.PathError.
func Open(name string) (*os.File, error) { return open(name, os.O_RDONLY) }

// OpenPrivate opens a regular file with os.OpenFile's flags; one that it makes is its owner's alone.
func OpenPrivate(name string, flag int) (*os.File, error) { return open(name, flag) }

// OpenPipe opens a pipe to read it. One into which nobody writes is empty; waiting for a writer could not be interrupted.
func OpenPipe(name string) (*os.File, error) { return os.OpenFile(name, os.O_RDONLY|noWait, 0) }

// Cause of an error of files, without what was done to which.
func Cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

const (
	ownersFile   = 0o600
	ownersFolder = 0o700
)

func open(name string, flag int) (*os.File, error) {
	f, err := os.OpenFile(name, flag|noWait, ownersFile)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		_ = f.Close() // nothing was written
		return nil, &fs.PathError{Op: "open", Path: name, Err: errOther}
	}
	return f, nil
}

// Make makes an empty file that only its owner may read, where there is none. A library that creates its files itself finds it, and
// gives what it puts beside it the same permissions.
func Make(name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, ownersFile)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// Folder makes a folder that only its owner may read, with those that it lies in, where there is none.
func Folder(name string) error { return os.MkdirAll(name, ownersFolder) }
