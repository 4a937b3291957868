// Package safe says which letters of a text that others wrote may be shown as they are. What a terminal obeys, what turns the
// direction of writing and what cannot be seen may not: names in files may hold anything.
package safe

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Rune reports whether a letter may be shown as it is. Unsafe are the controls C0 and C1 (ECMA-48), the marks that turn the
// direction of writing (Unicode TR9), letters without a width, breaks of lines and paragraphs, and tags (U+E0000 to U+E007F).
func Rune(r rune) bool {
	switch {
	case r >= ' ' && r < 0x7f:
		return true
	case r < ' ', r < 0xa0, r == 0x61c, r == 0xfeff:
		return false
	case r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r >= 0xfff9 && r <= 0xfffb,
		r >= 0xe0000 && r <= 0xe007f:
		return false
	}
	return true
}

// Text puts a question mark for each letter that may not be shown, but for those of keep.
func Text(s, keep string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return !Rune(r) }) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if Rune(r) || strings.ContainsRune(keep, r) {
			return r
		}
		return '?'
	}, s)
}

// JSON is the same JSON with such letters as \uXXXX: whoever parses it has the text as it was. Between its texts JSON holds none
// but blanks and ends of lines, which stay.
func JSON(data []byte) []byte {
	at := unsafeAt(data, 0)
	if at == len(data) {
		return data
	}
	out := make([]byte, 0, len(data)+64)
	for from := 0; ; {
		out = append(out, data[from:at]...)
		if at == len(data) {
			return out
		}
		r, n := utf8.DecodeRune(data[at:])
		out = escaped(out, r)
		from = at + n
		at = unsafeAt(data, from)
	}
}

// unsafeAt is where the next letter stands that may not be shown; the length where there is none.
func unsafeAt(data []byte, from int) int {
	for i := from; i < len(data); {
		if c := data[i]; c < 0x7f {
			i++
			continue
		}
		r, n := utf8.DecodeRune(data[i:])
		if !Rune(r) {
			return i
		}
		i += n
	}
	return len(data)
}

// escaped appends \uXXXX, of letters above U+FFFF as two (RFC 8259, 7).
func escaped(out []byte, r rune) []byte {
	const above, half = 0x10000, 0x400
	if r >= above {
		r -= above
		return escaped(escaped(out, 0xd800+r/half), 0xdc00+r%half)
	}
	digits := strconv.FormatInt(int64(r), 16)
	return append(append(out, `\u0000`[:6-len(digits)]...), digits...)
}

// Word writes a word so that a shell reads it back.
func Word(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\n\"'\\$&|;<>()*?#~`{}[]!") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
