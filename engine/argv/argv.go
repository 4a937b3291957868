// Package argv parses pasted command lines of inference servers: shell words, preceding assignments, wrappers such as
// docker run, and flags with values. It knows no engine; each engine has a table of flags next to its rules, in
// args.go.
//
// See command.go for what a pasted text may look like, flags.go for the tables, and launch.go for the result. Nothing
// is executed and no file is opened.
package argv

import (
	"fmt"
	"strings"
)

// Bounds of a pasted text.
const (
	MaxText  = 64 << 10
	maxWords = 4096
	maxWord  = 16 << 10
	maxDepth = 4 // of sh -c inside docker run inside sudo
)

// Error describes a wrong argument and how to fix it.
type Error struct{ Argument, Value, Problem, Fix string }

func (e *Error) Error() string {
	if e.Value == "" {
		return e.Argument + " " + e.Problem
	}
	return fmt.Sprintf("%s %s %s", e.Argument, shorten(e.Value), e.Problem)
}

// Hint is the fix.
func (e *Error) Hint() string { return e.Fix }

func wrong(argument, value, problem, fix string) *Error { return &Error{argument, value, problem, fix} }

// Wrong returns an Error.
func Wrong(argument, value, problem, fix string) error { return wrong(argument, value, problem, fix) }

// shorten a value that an error quotes, in valid UTF-8.
func shorten(s string) string {
	const most = 60
	if s = strings.ToValidUTF8(s, "\uFFFD"); len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && s[cut]&0xC0 == 0x80 {
		cut--
	}
	return s[:cut] + "…"
}
