package learn

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/figure"
)

// unknown stands for an unknown figure.
const unknown = "unknown"

// writer substitutes computed numbers in the texts of a script. It records the script's first error.
type writer struct {
	desk    *desk
	names   figure.Names
	unknown []string
	err     error
}

func newWriter(d *desk) *writer { return &writer{desk: d, names: d.tree} }

// fault records an error of the script itself.
func (w *writer) fault(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

// text evaluates {EXPRESSION | UNIT} in a text.
func (w *writer) text(s string) (out Text) {
	for {
		before, rest, found := strings.Cut(s, "{")
		if before != "" {
			out = append(out, Piece{Text: w.desk.fill(before)})
		}
		if !found {
			return out
		}
		inside, after, closed := strings.Cut(rest, "}")
		if !closed {
			w.fault("a { without its } before %q", rest)
			return out
		}
		out = append(out, w.piece(inside))
		s = after
	}
}

// piece evaluates one expression.
func (w *writer) piece(s string) Piece {
	expr, name, _ := strings.Cut(s, "|")
	expr, name = strings.TrimSpace(expr), strings.TrimSpace(name)
	v, ok := w.value(expr)
	switch {
	case !ok:
		return Piece{Text: unknown, From: expr}
	case v.Words != "":
		return Piece{Text: v.Words, From: expr}
	}
	words, known := written(v.Number, name)
	if !known {
		w.fault("%q is not a unit (%s)", name, s)
	}
	return Piece{Text: words, Value: &v.Number, From: expr}
}

// value evaluates an expression. Unknown figures, and questions without an answer for this model and hardware, yield no
// value, and the lesson says why.
func (w *writer) value(expr string) (figure.Value, bool) {
	v, err := w.names.Eval(expr)
	if err == nil {
		return v, number(v.Number)
	}
	w.missed(err)
	return v, false
}

// number reports whether x is finite.
func number(x float64) bool { return x-x == 0 }

// missed records why a figure is unknown, each reason once.
func (w *writer) missed(err error) {
	why := err.Error()
	var m *figure.MissingError
	if errors.As(err, &m) {
		name, _, _ := strings.Cut(m.Path, ".")
		why = fmt.Sprintf("%s: the answer to %q has no %s", m.Path, w.desk.fill(w.desk.lines[name]), m.Step)
	}
	if !slices.Contains(w.unknown, why) {
		w.unknown = append(w.unknown, why)
	}
}

// shown reports whether a condition holds.
func (w *writer) shown(c condition) bool {
	if c.expr == "" {
		return true
	}
	v, err := w.names.Eval(c.expr)
	there := err == nil && (v.Words != "" || v.Number != 0 && number(v.Number))
	return there != c.not
}
