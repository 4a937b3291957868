package arch

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/format"
	"github.com/memwall/memwall/spell"
)

// Error is a fault in a description.
type Error struct {
	Line  int    // from 1; 0 when the file as a whole is at fault
	Field string // the way to the key: layers[2].attention.heads
	Value string // what is there, as far as it can be shown
	Text  string // why that cannot be
	Fix   string
}

// Error prints line, key, value and fault: "line 7: layers[0].attention.kv_heads = 3 does not divide the 32 heads".
func (e *Error) Error() string {
	var b strings.Builder
	if e.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", e.Line)
	}
	if e.Field != "" {
		b.WriteString(e.Field)
		if e.Value != "" {
			b.WriteString(" = " + e.Value)
		}
		b.WriteByte(' ')
	}
	return b.String() + e.Text
}

func quote(s string) string { return format.Quote(s) }

// didYouMean is a fix that names the nearest spellings, else says something else.
func didYouMean(word string, known []string, otherwise string) string {
	if near := spell.Nearest(word, known); len(near) > 0 {
		return "did you mean " + strings.Join(near, " or ") + "?"
	}
	return otherwise
}
