// Package batch reads requests, one per line, and answers each independently of the others' failures.
package batch

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/memwall/memwall"
)

// maxLine bounds a line.
const maxLine = 1 << 20

// Lines are those of an input.
type Lines struct {
	in *bufio.Reader
	n  int
}

// NewLines reads an input.
func NewLines(in io.Reader) *Lines { return &Lines{in: bufio.NewReaderSize(in, 1<<16)} }

// Line is one of them, or what was wrong with it.
type Line struct {
	Text []byte
	Err  *memwall.Error
	n    int
}

// Next gives the next line; false when there is none. The error is of the input.
func (l *Lines) Next() (*Line, bool, error) {
	l.n++
	text, tooLong, err := readLine(l.in)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, false, &memwall.Error{Code: memwall.BadFile, Field: "stdin", Message: fmt.Sprintf("stdin, line %d: %v", l.n, err)}
	case errors.Is(err, io.EOF) && len(text) == 0 && !tooLong:
		return nil, false, nil
	case tooLong:
		return &Line{n: l.n, Err: &memwall.Error{Code: memwall.Limit, Field: "line", Value: strconv.Itoa(l.n),
			Message: fmt.Sprintf("line %d is longer than 1 MiB", l.n), Hint: "one request a line"}}, true, nil
	}
	return &Line{Text: text, n: l.n}, true, nil
}

// readLine reads a line without its end. Of a line that is too long the rest is read and dropped.
func readLine(in *bufio.Reader) (line []byte, tooLong bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > maxLine+1 {
			tooLong, line = true, nil
		}
		if !tooLong {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if n := len(line); n > 0 && line[n-1] == '\n' {
			line = line[:n-1]
		}
		return line, tooLong, err
	}
}

// Answer answers a line; a fault in one does not end the rest.
func (l *Line) Answer(ask func(*memwall.Request) (*memwall.Answer, error)) (answer *memwall.Answer) {
	defer func() {
		if fault := recover(); fault != nil {
			answer = Failed(&memwall.Error{Code: memwall.Internal, Message: fmt.Sprintf("memwall itself failed: %v", fault),
				Hint: "this is a bug; report it with the request"})
		}
	}()
	if l.Err != nil {
		return Failed(l.Err)
	}
	r, err := memwall.Decode(l.Text)
	if err != nil {
		return Failed(l.named(memwall.AsError(err)))
	}
	answer, err = ask(r)
	if answer == nil {
		answer = Failed(memwall.AsError(err))
		answer.Ask = r.Ask
	}
	return answer
}

// named gives an error that is of no field the number of the line.
func (l *Line) named(e *memwall.Error) *memwall.Error {
	if e.Field != "" {
		return e
	}
	out := *e
	out.Field, out.Value = "line", strconv.Itoa(l.n)
	return &out
}

// Failed is an answer that could not be given.
func Failed(e *memwall.Error) *memwall.Answer {
	return &memwall.Answer{Schema: memwall.Schema, Version: memwall.Version, Error: e}
}
