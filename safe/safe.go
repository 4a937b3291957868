// Package safe determines which characters of untrusted text may be displayed unchanged. Terminal controls,
// bidirectional controls and invisible characters may not: names in files can contain anything.
package safe

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Rune reports whether a character may be displayed unchanged. Unsafe are the controls C0 and C1 (ECMA-48),
// bidirectional controls (Unicode TR9), zero-width characters, line and paragraph separators, and tags (U+E0000 to
// U+E007F).
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

// Text replaces each unsafe character, except those in keep, by a question mark.
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

// JSON returns equivalent JSON with unsafe characters escaped as \uXXXX, so that parsing it yields the original text.
// Outside strings JSON has no such characters except whitespace, which is kept.
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

// unsafeAt returns the position of the next unsafe character, or the length if there is none.
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

// escaped appends \uXXXX, as a surrogate pair above U+FFFF (RFC 8259, section 7).
func escaped(out []byte, r rune) []byte {
	const above, half = 0x10000, 0x400
	if r >= above {
		r -= above
		return escaped(escaped(out, 0xd800+r/half), 0xdc00+r%half)
	}
	digits := strconv.FormatInt(int64(r), 16)
	return append(append(out, `\u0000`[:6-len(digits)]...), digits...)
}

// Word quotes a word for a shell.
func Word(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\n\"'\\$&|;<>()*?#~`{}[]!") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
