package workload

import (
	"bufio"
	"errors"
	"io"

	"github.com/memwall/memwall/fault"
)

// maxLine is the maximum length of a line: the block ids of a million-token prompt take a twentieth of it.
const maxLine = 1 << 20

// lines reads a text line by line, buffering a single line.
type lines struct {
	r      *bufio.Reader
	number int64 // of the last line read, from 1
	long   []byte
}

func newLines(r io.Reader) *lines { return &lines{r: bufio.NewReaderSize(r, 1<<16)} }

// next returns the next non-blank line without its end, valid until the next call; io.EOF after the last.
func (l *lines) next() ([]byte, error) {
	for {
		line, err := l.short()
		l.number++
		if line = trimmed(line); len(line) > 0 || err != nil {
			return line, err
		}
	}
}

// trimmed returns a line without its end.
func trimmed(line []byte) []byte {
	for n := len(line); n > 0; n-- {
		if c := line[n-1]; c != '\n' && c != '\r' && c != ' ' && c != '\t' {
			return line[:n]
		}
	}
	return nil
}

// line returns the number of the last line read.
func (l *lines) line() int64 { return l.number }

// short returns a line that fits the reader's buffer, as nearly all do.
func (l *lines) short() ([]byte, error) {
	line, err := l.r.ReadSlice('\n')
	l.long = l.long[:0]
	for errors.Is(err, bufio.ErrBufferFull) {
		if len(l.long)+len(line) > maxLine {
			return nil, l.rest()
		}
		l.long = append(l.long, line...)
		line, err = l.r.ReadSlice('\n')
	}
	if len(l.long)+len(line) > maxLine {
		return nil, tooLong()
	}
	if len(l.long) > 0 {
		l.long = append(l.long, line...)
		line = l.long
	}
	if errors.Is(err, io.EOF) && len(line) > 0 {
		err = nil // an unterminated last line counts
	}
	return line, err
}

// rest skips the remainder of a line that is too long.
func (l *lines) rest() error {
	for {
		_, err := l.r.ReadSlice('\n')
		if err == nil || errors.Is(err, io.EOF) {
			return tooLong()
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

func tooLong() error {
	return &fault.Error{Field: "line", Problem: string(TooLong), Fix: "a request takes at most 1 MiB: one request a line"}
}
