package workload

import (
	"bufio"
	"errors"
	"io"

	"github.com/memwall/memwall/fault"
)

// maxLine bounds a line of a trace: blocks of a prompt of a million tokens take a twentieth of it.
const maxLine = 1 << 20

// lines reads a text line by line, in memory for one line.
type lines struct {
	r      *bufio.Reader
	number int64 // of the line that was read last, from 1
	long   []byte
}

func newLines(r io.Reader) *lines { return &lines{r: bufio.NewReaderSize(r, 1<<16)} }

// next line that is not blank, without its end; io.EOF behind the last. It stands until the next call.
func (l *lines) next() ([]byte, error) {
	for {
		line, err := l.short()
		l.number++
		if line = trimmed(line); len(line) > 0 || err != nil {
			return line, err
		}
	}
}

// trimmed is a line without its end.
func trimmed(line []byte) []byte {
	for n := len(line); n > 0; n-- {
		if c := line[n-1]; c != '\n' && c != '\r' && c != ' ' && c != '\t' {
			return line[:n]
		}
	}
	return nil
}

// line that was read last.
func (l *lines) line() int64 { return l.number }

// short lines, as nearly all are, stay in the buffer of the reader.
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
		err = nil // a last line without an end is one
	}
	return line, err
}

// rest of a line that is too long.
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
