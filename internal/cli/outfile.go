package cli

import (
	"io"
	"os"

	"github.com/memwall/memwall/source/regular"
)

// File is a file that takes its name when it is whole.
type File interface {
	io.Writer
	Commit() error
	Abandon()
}

// createFile begins a file; one of that name stays as it is until the new one is whole.
func createFile(name string) (File, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		f, err := os.OpenFile(name, os.O_WRONLY, 0) // a pipe or a device has no other name
		return &straight{f}, err
	}
	return regular.Begin(name, 0o644)
}

// writeFile writes a file in one go, and leaves an old one as it is until the new one is whole.
func writeFile(name string, data []byte) error {
	f, err := createFile(name)
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		f.Abandon()
		return err
	}
	return f.Commit()
}

// straight is written as it comes.
type straight struct{ *os.File }

// Commit closes it.
func (s *straight) Commit() error { return s.Close() }

// Abandon closes it.
func (s *straight) Abandon() { _ = s.Close() }
