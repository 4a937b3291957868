package safetensors

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/memwall/memwall/format"
	"github.com/memwall/memwall/format/internal/window"
	"github.com/memwall/memwall/unit"
)

const (
	room     = 256 << 10
	maxDepth = 16 // nesting of skipped values; the format itself needs three
	maxText  = 16 << 20
)

// scanner parses JSON sequentially (RFC 8259) without retaining it. After the first error all reads return nothing.
type scanner struct {
	w       *window.Reader
	buf     []byte // unread bytes of w when pos was 0
	pos     int
	scratch []byte // for strings with escapes or across buffer boundaries
	ended   func(at int64) error
	err     error
}

// newScanner returns a scanner of bytes from to end of r. ended returns the error for a truncated text.
func newScanner(r io.ReaderAt, from, end int64, ended func(at int64) error) *scanner {
	s := &scanner{w: window.New(r, end, room), ended: ended}
	s.w.Advance(from)
	return s
}

func (s *scanner) offset() int64 { return s.w.Offset() + int64(s.pos) }

// fail sets the error, unless one is set.
func (s *scanner) fail(at int64, field, text string, args ...any) {
	if s.err == nil {
		s.err = &Error{Offset: at, Field: field, Text: fmt.Sprintf(text, args...), Fix: format.FetchAgain}
	}
}

// fill ensures at least one unread byte; small enough to be inlined for the case without reading.
func (s *scanner) fill() bool {
	if s.pos < len(s.buf) && s.err == nil {
		return true
	}
	return s.refill()
}

func (s *scanner) refill() bool {
	if s.err == nil && s.atEnd() && s.err == nil {
		s.err = s.ended(s.offset())
	}
	return s.err == nil
}

// atEnd refills an empty buffer and reports whether the text ends.
func (s *scanner) atEnd() bool {
	if s.pos < len(s.buf) {
		return false
	}
	s.w.Advance(int64(s.pos))
	s.pos = 0
	err := s.w.Need(1)
	s.buf = s.w.Bytes()
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		s.err = fmt.Errorf("byte %s: reading the header: %w", unit.Count(s.offset()), err)
	}
	return err != nil
}

// trailing skips white space to the end of the text.
func (s *scanner) trailing(where string) {
	for s.err == nil && !s.atEnd() {
		if c := s.buf[s.pos]; !space(c) {
			s.fail(s.offset(), where, "%q behind the closing brace of %s", c, format.Quote(where))
		}
		s.pos++
	}
}

func space(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// next returns the first non-space byte without consuming it; 0 on error.
func (s *scanner) next() byte {
	for s.fill() {
		c := s.buf[s.pos]
		if !space(c) {
			return c
		}
		s.pos++
	}
	return 0
}

// accept consumes c if it is next.
func (s *scanner) accept(c byte) bool {
	if s.next() != c || s.err != nil {
		return false
	}
	s.pos++
	return true
}

// expect consumes c, or fails; where says what it belongs to.
func (s *scanner) expect(c byte, where string) bool {
	if s.accept(c) {
		return true
	}
	s.unexpected(fmt.Sprintf("%q", c), where)
	return false
}

func (s *scanner) unexpected(want, where string) {
	if c := s.next(); s.err == nil {
		s.fail(s.offset(), where, "%q in %s, where %s belongs", c, format.Quote(where), want)
	}
}

// object calls each with every key and its position; each must consume the value. The key is valid until then.
func (s *scanner) object(where string, each func(key []byte, at int64)) {
	s.list('{', '}', where, func() {
		s.next()
		at := s.offset()
		if key := s.text(where, maxName); s.err == nil {
			each(key, at)
		}
	})
}

// list parses a comma-separated list between brackets.
func (s *scanner) list(open, close byte, where string, each func()) {
	if !s.expect(open, where) || s.accept(close) {
		return
	}
	for s.err == nil {
		each()
		if s.err != nil || s.accept(close) {
			return
		}
		s.expect(',', where)
	}
}

// integer parses an integer from 0 to 2^63-1 in JSON syntax.
func (s *scanner) integer(where string) int64 {
	first, at := s.next(), s.offset()
	switch {
	case first == '-':
		s.fail(at, where, "%s: a negative number", format.Quote(where))
	case !digit(first):
		s.unexpected("a whole number", where)
	}
	n, digits, fits := int64(0), 0, true
	for s.fill() && digit(s.buf[s.pos]) {
		d := int64(s.buf[s.pos] - '0')
		fits = fits && n <= (math.MaxInt64-d)/10
		n = n*10 + d
		digits++
		s.pos++
	}
	switch {
	case s.err != nil:
	case s.buf[s.pos] == '.' || s.buf[s.pos]|0x20 == 'e':
		s.fail(at, where, "%s: a number that is not whole", format.Quote(where))
	case !fits:
		s.fail(at, where, "%s: a number of %d digits, which is 2^63 or more", format.Quote(where), digits)
	case first == '0' && digits > 1:
		s.fail(at, where, "%s: a number that begins with 0", format.Quote(where))
	default:
		return n
	}
	return 0
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

// text parses a string of at most limit bytes, valid until the next read.
func (s *scanner) text(where string, limit int) []byte {
	if !s.expect('"', where) {
		return nil
	}
	s.scratch = s.scratch[:0]
	for s.fill() {
		part := s.buf[s.pos:]
		n := unescaped(part)
		s.pos += n
		if len(s.scratch)+n > limit {
			s.fail(s.offset(), where, "a text of more than %s bytes in %s", unit.Count(int64(limit)), format.Quote(where))
			return nil
		}
		if n < len(part) && part[n] == '"' && len(s.scratch) == 0 {
			s.pos++
			return s.valid(part[:n], where)
		}
		s.scratch = append(s.scratch, part[:n]...)
		if n < len(part) && s.special(part[n], where) {
			return s.valid(s.scratch, where)
		}
	}
	return nil
}

// unescaped returns the number of leading bytes that represent themselves.
func unescaped(b []byte) int {
	for i, c := range b {
		if c == '"' || c == '\\' || c < ' ' {
			return i
		}
	}
	return len(b)
}

// special handles a byte of a string that does not represent itself, and reports whether it ends the string.
func (s *scanner) special(c byte, where string) (end bool) {
	switch c {
	case '"':
		s.pos++
		return true
	case '\\':
		s.pos++
		s.escape(where)
	default:
		s.fail(s.offset(), where, "the control character %q in a text of %s", c, format.Quote(where))
	}
	return false
}

func (s *scanner) valid(b []byte, where string) []byte {
	if !utf8.Valid(b) {
		s.fail(s.offset(), where, "a text in %s that is not UTF-8", format.Quote(where))
		return nil
	}
	return b
}

// byte consumes and returns the next byte.
func (s *scanner) byte() byte {
	if !s.fill() {
		return 0
	}
	s.pos++
	return s.buf[s.pos-1]
}

// escape appends the character of an escape sequence.
func (s *scanner) escape(where string) {
	at := s.offset()
	switch c := s.byte(); c {
	case '"', '\\', '/':
		s.scratch = append(s.scratch, c)
	case 'b', 'f', 'n', 'r', 't':
		s.scratch = append(s.scratch, "\b\f\n\r\t"[strings.IndexByte("bfnrt", c)])
	case 'u':
		s.scratch = utf8.AppendRune(s.scratch, s.codepoint(at, where))
	default:
		s.fail(at, where, "the escape \\%c in a text of %s", c, format.Quote(where))
	}
}

// codepoint parses four hexadecimal digits, and the second half of a surrogate pair.
func (s *scanner) codepoint(at int64, where string) rune {
	r := s.hex4(where)
	if !utf16.IsSurrogate(r) {
		return r
	}
	if s.byte() == '\\' && s.byte() == 'u' { //nolint:gocritic // each call takes the next byte
		r = utf16.DecodeRune(r, s.hex4(where))
	} else {
		r = utf8.RuneError
	}
	if r == utf8.RuneError {
		s.fail(at, where, "half a surrogate pair in a text of %s", format.Quote(where))
	}
	return r
}

func (s *scanner) hex4(where string) (r rune) {
	at := s.offset()
	for range 4 {
		v := strings.IndexByte("0123456789abcdefABCDEF", s.byte())
		if v < 0 {
			s.fail(at, where, "an escape without four hexadecimal digits in a text of %s", format.Quote(where))
			return 0
		}
		if v > 15 {
			v -= 6
		}
		r = r<<4 | rune(v)
	}
	return r
}

// skip skips any value; depth is its nesting depth.
func (s *scanner) skip(where string, depth int) {
	if depth > maxDepth {
		s.fail(s.offset(), where, "values nested deeper than %d in %s", maxDepth, format.Quote(where))
	}
	switch c := s.next(); c {
	case '{':
		s.object(where, func([]byte, int64) {
			s.expect(':', where)
			s.skip(where, depth+1)
		})
	case '[':
		s.list('[', ']', where, func() { s.skip(where, depth+1) })
	case '"':
		s.text(where, maxText)
	default:
		s.literal(where)
	}
}

// literal parses a number, true, false or null.
func (s *scanner) literal(where string) string {
	at := s.offset()
	var room [64]byte
	word := room[:0]
	for s.fill() && literally(s.buf[s.pos]) && len(word) < len(room) {
		word = append(word, s.buf[s.pos])
		s.pos++
	}
	switch {
	case s.err != nil:
		return ""
	case len(word) == 0:
		s.unexpected("a value", where)
	case !json.Valid(word):
		s.fail(at, where, "%s in %s, which is not a value", format.Quote(string(word)), format.Quote(where))
	}
	return string(word)
}

func literally(c byte) bool {
	return digit(c) || 'a' <= c|0x20 && c|0x20 <= 'z' || c == '+' || c == '-' || c == '.'
}
