package hardware

import (
	"fmt"
	"strings"
)

// Note describes an assumption. Codes: default_used, nodes_assumed, link_assumed, fabric_assumed, name_unread,
// link_halved, partly_used, board_of_dies, memory_default.
type Note struct {
	Code string
	Text string
}

func note(code, format string, args ...any) Note { return Note{code, fmt.Sprintf(format, args...)} }

// Error codes.
const (
	UnknownHardware = "unknown_hardware"
	BadField        = "bad_field"
)

// Error names the field and value, what is wrong with it, and a fix.
type Error struct {
	Code       string
	Field      string
	Value      string
	Problem    string
	Fix        string
	Candidates []string // ids that may have been meant
}

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s", e.Field, quote(e.Value), e.Problem)
	if e.Fix != "" {
		b.WriteString(": " + e.Fix)
	}
	return b.String()
}

func bad(field, value, problem, fix string) *Error {
	return &Error{Code: BadField, Field: field, Value: value, Problem: problem, Fix: fix}
}

// quote quotes a value, shortened in the middle.
func quote(s string) string {
	const most = 80
	if len(s) > most {
		s = s[:most/2] + "..." + s[len(s)-most/2:]
	}
	return fmt.Sprintf("%q", s)
}
