package cli

import (
	"io"
	"os"

	"github.com/memwall/memwall/source/regular"
)

// File is a file that takes its name only once it is complete.
type File interface {
	io.Writer
	Commit() error
	Abandon()
}

// createFile creates a file; an existing one of that name is replaced only when the new one is complete.
func createFile(name string) (File, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		f, err := os.OpenFile(name, os.O_WRONLY, 0) // a pipe or a device cannot be renamed
		return &straight{f}, err
	}
	return regular.Begin(name, 0o644)
}

// writeFile writes a whole file, replacing an existing one only when complete.
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

// straight is a file written in place.
type straight struct{ *os.File }

// Commit closes the file.
func (s *straight) Commit() error { return s.Close() }

// Abandon closes the file.
func (s *straight) Abandon() { _ = s.Close() }
