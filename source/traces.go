package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/memwall/memwall"
)

// Traces is a TraceSource that opens files, and standard input as "-".
type Traces struct {
	// Stdin is read once and buffered, since a trace may be read repeatedly; nil rejects "-".
	Stdin io.Reader
	kept  []byte
	read  bool
}

// maxKept is the most that is buffered of standard input, in bytes.
const maxKept = 256 << 20

// Trace opens a trace for a single read.
func (t *Traces) Trace(name string) (io.ReadCloser, error) {
	if name == "-" {
		return t.standard()
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, badTrace(name, "there is no such file", "give the file of a trace, or - for standard input")
	case err != nil:
		return nil, badTrace(name, "cannot be read", "give a file that can be read")
	case info.IsDir():
		return nil, badTrace(name, "is a folder", "give one of the files in it")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, badTrace(name, "cannot be read", "give a file that can be read")
	}
	return f, nil
}

// standard returns standard input, any number of times.
func (t *Traces) standard() (io.ReadCloser, error) {
	if t.Stdin == nil {
		return nil, badTrace("-", "standard input is not read here", "give a file")
	}
	if !t.read {
		data, err := io.ReadAll(io.LimitReader(t.Stdin, maxKept+1))
		if err != nil {
			return nil, badTrace("-", "standard input cannot be read", "give a file")
		}
		t.kept, t.read = data, true
	}
	if len(t.kept) > maxKept {
		return nil, badTrace("-", fmt.Sprintf("standard input is longer than %d MiB, which is kept to be read again", maxKept>>20), "give a file")
	}
	return io.NopCloser(bytes.NewReader(t.kept)), nil
}

func badTrace(name, why, fix string) error {
	return &memwall.Error{Code: memwall.BadFile, Field: "workload.trace", Value: name, Message: fmt.Sprintf("trace %s: %s", name, why), Hint: fix}
}
