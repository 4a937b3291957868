// Package fault is the one kind of error of readers of files and texts: where it is wrong, what is wrong with it, and what to do. Codecs
// that name bytes have a kind of their own (package format), and so have the fields of a plan (package plan).
package fault

import "fmt"

// Error is what is wrong with a file or a text. What is empty is not told.
type Error struct {
	File         string
	Line, Column int    // from 1; 0 when the file as a whole, or the line, is at fault
	Field        string // the way to the key: layers[2].attention.heads
	Value        string // what is there, as far as it can be shown
	Problem      string // "nests deeper than 12 levels": what is wrong
	Fix          string
}

// Error prints place, key, value and problem: "line 7: layers[0].attention.kv_heads = 3 does not divide the 32 heads".
func (e *Error) Error() string {
	s := e.Problem
	if e.Field != "" && e.Value != "" {
		s = e.Field + " = " + e.Value + " " + s
	} else if e.Field != "" {
		s = e.Field + " " + s
	}
	if e.Line > 0 {
		s = fmt.Sprintf("line %d: %s", e.Line, s)
	}
	switch {
	case e.File == "":
		return s
	case e.Line > 0 || e.Field != "":
		return e.File + ": " + s
	}
	return e.File + " " + s
}

// Hint is the fix.
func (e *Error) Hint() string { return e.Fix }

// In is a problem of a line of a file; of the whole of it where the line is 0, and of a text where the file is "".
func In(file string, line int, problem, fix string) *Error {
	return &Error{File: file, Line: line, Problem: problem, Fix: fix}
}

// New is a problem of the whole of a text.
func New(problem, fix string) *Error { return &Error{Problem: problem, Fix: fix} }
