package workload

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memwall/memwall/fault"
)

// Reason why a request of a trace is refused.
type Reason string

// Reasons of faults.
const (
	NotNumber  Reason = "is not a number"
	NotWhole   Reason = "is not a whole number"
	NotText    Reason = "is no text, number or list that belongs there"
	Negative   Reason = "is negative"
	Zero       Reason = "is zero"
	Absurd     Reason = "is absurdly large"
	Unsorted   Reason = "is before that of the request above"
	Missing    Reason = "is missing"
	Twice      Reason = "stands twice"
	CutOff     Reason = "is cut off"
	Malformed  Reason = "is not of the format"
	TooLong    Reason = "is too long"
	Empty      Reason = "holds no request"
	Unfollowed Reason = "names no request that this one could follow"
	TooMany    Reason = "is more than are held at a time"
	Mismatch   Reason = "does not fit the length of the prompt"
)

// wrong is a field at fault; whoever reads lines adds the line. A value that is long or cannot be printed is shown as far as it can.
func wrong(field string, value []byte, reason Reason, fix string) *fault.Error {
	const most = 60
	text := string(value[:min(len(value), most)])
	if len(value) > most {
		text += "..."
	}
	odd := func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }
	if strings.ContainsFunc(text, odd) {
		text = strconv.QuoteToASCII(text)
	}
	return &fault.Error{Field: field, Value: text, Problem: string(reason), Fix: fix}
}
