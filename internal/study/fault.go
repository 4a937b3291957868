package study

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/fault"
	"github.com/memwall/memwall/format/yaml"
)

// Fault is an error in a study file, and its location.
type Fault struct {
	What         *memwall.Error
	Line, Column int    // from 1; 0 for the file as a whole
	Text         string // the line; "" where there is none
}

// Error prints the place and the fault.
func (f *Fault) Error() string { return f.What.Message }

// Unwrap gives the error of the contract.
func (f *Fault) Unwrap() error { return f.What }

// Excerpt shows the line with a mark below the column; "" where the fault is of no line.
func (f *Fault) Excerpt() string {
	if f.Text == "" {
		return ""
	}
	const most = 100 // columns
	text := []rune(strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case !unicode.IsPrint(r):
			return '?'
		}
		return r
	}, f.Text))
	at := min(max(f.Column-1, 0), len(text))
	from := 0
	if at > most {
		from = at - most/2
	}
	shown := string(text[from:min(len(text), from+most)])
	number := fmt.Sprintf("%4d | ", f.Line)
	return number + shown + "\n" + strings.Repeat(" ", len(number)+at-from) + "^\n"
}

// file is a text with its name, for faults.
type file struct {
	name  string
	lines []string
}

func newFile(name, text string) *file { return &file{name, strings.Split(text, "\n")} }

// fault at a place.
func (f *file) fault(at yaml.Place, e *memwall.Error) error {
	out := &Fault{What: e, Line: at.Line, Column: at.Column}
	where := f.name
	if at.Line > 0 {
		where += fmt.Sprintf(", line %d", at.Line)
	}
	if at.Column > 0 {
		where += fmt.Sprintf(", column %d", at.Column)
	}
	if at.Line > 0 && at.Line <= len(f.lines) {
		out.Text = strings.TrimSuffix(f.lines[at.Line-1], "\r")
	}
	told := *e
	told.Message = where + ": " + e.Message
	out.What = &told
	return out
}

// bad is a field that is wrong.
func (f *file) bad(at yaml.Place, field, value, message, hint string) error {
	return f.fault(at, &memwall.Error{Code: memwall.BadField, Field: field, Value: value, Message: message, Hint: hint})
}

// unread is a text that is not YAML of the plain kind.
func (f *file) unread(err error) error {
	var e *fault.Error
	if !errors.As(err, &e) {
		return err
	}
	return f.fault(yaml.Place{Line: e.Line, Column: e.Column},
		&memwall.Error{Code: memwall.BadFile, Field: "study", Message: "it " + e.Problem, Hint: e.Fix})
}

func placeOf(n *yaml.Node) yaml.Place { return yaml.Place{Line: n.Line, Column: n.Column} }
