package cli

import (
	"bufio"
	"fmt"
	"io"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/source/regular"
)

// outFiles are output files; each takes its name only once complete.
type outFiles struct{ begun []*outFile }

// outFile is a file being written.
type outFile struct {
	File
	*bufio.Writer
	flag, name string
}

// Write writes to the buffer.
func (w *outFile) Write(b []byte) (int, error) { return w.Writer.Write(b) }

// ReadFrom copies to the buffer.
func (w *outFile) ReadFrom(r io.Reader) (int64, error) { return w.Writer.ReadFrom(r) }

// begin creates a file that a flag asks for; on failure, earlier ones are abandoned.
func (o *outFiles) begin(a *app, flag, name string) (*outFile, error) {
	file, err := a.CreateFile(name)
	if err != nil {
		o.abandon()
		return nil, unwritten(flag, name, err)
	}
	w := &outFile{file, bufio.NewWriterSize(file, 1<<16), flag, name}
	o.begun = append(o.begun, w)
	return w, nil
}

// commit renames the files to their names.
func (o *outFiles) commit() error {
	for len(o.begun) > 0 {
		w := o.begun[0]
		if err := w.Flush(); err != nil {
			return unwritten(w.flag, w.name, err)
		}
		o.begun = o.begun[1:]
		if err := w.Commit(); err != nil {
			return unwritten(w.flag, w.name, err)
		}
	}
	return nil
}

// abandon discards incomplete files.
func (o *outFiles) abandon() {
	for _, w := range o.begun {
		w.Abandon()
	}
	o.begun = nil
}

func unwritten(flag, name string, err error) error {
	return &memwall.Error{Code: memwall.BadFile, Field: flag, Value: name, Message: fmt.Sprintf("--%s: %s cannot be written: %v", flag, name, regular.Cause(err)), Hint: "a file in a folder that exists and can be written"}
}
