package workload

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memwall/memwall/fault"
)

// Reason is why a request of a trace is rejected.
type Reason string

// Reasons.
const (
	NotNumber  Reason = "is not a number"
	NotWhole   Reason = "is not a whole number"
	NotText    Reason = "is not text, a number or a list that belongs there"
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

// wrong returns an error about a field; the line is added by the caller. Long or unprintable values are shown as far as
// possible.
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
