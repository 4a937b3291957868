// Package fault defines the error type of parsers of files and texts: where the error is, what it is, and what to do.
// Codecs that report byte offsets have their own (package format), as have the fields of a plan (package plan).
package fault

import "fmt"

// Error is an error in a file or text. Empty fields are not shown.
type Error struct {
	File         string
	Line, Column int    // from 1; 0 if unknown or the whole file
	Field        string // path of the key: layers[2].attention.heads
	Value        string // the value found, shortened for display
	Problem      string // what is wrong: "nests deeper than 12 levels"
	Fix          string
}

// Error formats place, key, value and problem: "line 7: layers[0].attention.kv_heads = 3 does not divide the 32 heads".
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

// Hint returns the fix.
func (e *Error) Hint() string { return e.Fix }

// In returns an error at a line of a file; line 0 means the whole file, file "" a text.
func In(file string, line int, problem, fix string) *Error {
	return &Error{File: file, Line: line, Problem: problem, Fix: fix}
}

// New returns an error about a whole text.
func New(problem, fix string) *Error { return &Error{Problem: problem, Fix: fix} }
