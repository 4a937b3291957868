package cli

import (
	"io"
	"os"
	"path/filepath"
)

// File is a file that takes its name when it is whole.
type File interface {
	io.Writer
	Commit() error
	Abandon()
}

// wholeFile is written under another name beside its own.
type wholeFile struct {
	*os.File
	name string
}

// createFile begins a file; one of that name stays as it is until the new one is whole.
func createFile(name string) (File, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		f, err := os.OpenFile(name, os.O_WRONLY, 0) // a pipe or a device has no other name
		return &straight{f}, err
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return nil, err
	}
	return &wholeFile{f, name}, nil
}

// Commit gives the file its name.
func (w *wholeFile) Commit() error {
	err := w.Chmod(0o644)
	if closed := w.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(w.File.Name(), w.name)
	}
	if err != nil {
		_ = os.Remove(w.File.Name()) // the error before it is the one to tell
	}
	return err
}

// Abandon removes what was written.
func (w *wholeFile) Abandon() {
	_ = w.Close() // nobody wants what was written
	_ = os.Remove(w.File.Name())
}

// straight is written as it comes.
type straight struct{ *os.File }

// Commit closes it.
func (s *straight) Commit() error { return s.Close() }

// Abandon closes it.
func (s *straight) Abandon() { _ = s.Close() }
