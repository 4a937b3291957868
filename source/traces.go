package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/source/regular"
)

// Traces is a TraceSource that opens files, and standard input as "-". It is not safe for concurrent use.
type Traces struct {
	// Stdin is read once and buffered, since a trace may be read repeatedly; nil rejects "-".
	Stdin io.Reader
	kept  map[string][]byte // standard input and pipes, by name
}

// maxKept is the most that is buffered of standard input or a pipe, in bytes.
const maxKept = 256 << 20

// Trace opens a trace for a single read.
func (t *Traces) Trace(name string) (io.ReadCloser, error) {
	if name == "-" && t.Stdin == nil {
		return nil, badTrace("-", "standard input is not read here", "give a file")
	}
	if name == "-" {
		return t.once(name, func() (io.ReadCloser, error) { return io.NopCloser(t.Stdin), nil })
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, badTrace(name, "there is no such file", "give the file of a trace, or - for standard input")
	case err != nil:
		return nil, badTrace(name, "cannot be read", "give a file that can be read")
	case info.IsDir():
		return nil, badTrace(name, "is a folder", "give one of the files in it")
	case info.Mode().Type() == fs.ModeNamedPipe:
		return t.once(name, func() (io.ReadCloser, error) { return regular.OpenPipe(name) })
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, badTrace(name, "cannot be read", "give a file that can be read")
	}
	return f, nil
}

// once returns what can be read a single time, any number of times.
func (t *Traces) once(name string, open func() (io.ReadCloser, error)) (io.ReadCloser, error) {
	if data, read := t.kept[name]; read {
		return io.NopCloser(bytes.NewReader(data)), nil
	}
	r, err := open()
	if err != nil {
		return nil, badTrace(name, "cannot be read", "give a file that can be read")
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, maxKept+1))
	switch {
	case err != nil:
		return nil, badTrace(name, "cannot be read", "give a file")
	case len(data) > maxKept:
		return nil, badTrace(name, fmt.Sprintf("is longer than %d MiB, which is kept to be read again", maxKept>>20), "give a file")
	case len(data) == 0:
		return nil, badTrace(name, "is empty, or nobody writes into it", "give a file, or pipe the trace in")
	}
	if t.kept == nil {
		t.kept = map[string][]byte{}
	}
	t.kept[name] = data
	return io.NopCloser(bytes.NewReader(data)), nil
}

func badTrace(name, why, fix string) error {
	return &memwall.Error{Code: memwall.BadFile, Field: "workload.trace", Value: name, Message: fmt.Sprintf("trace %s: %s", name, why), Hint: fix}
}
