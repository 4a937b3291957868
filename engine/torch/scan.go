package torch

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// Bounds on a trace.
const (
	window   = 1 << 20 // bytes that are read at once
	maxEvent = 1 << 20 // bytes of an event or of another field that are kept; longer ones are passed over
	maxDepth = 256
	maxKey   = 256
)

// scanner reads JSON value by value without keeping more than one.
type scanner struct {
	r    *bufio.Reader
	at   int64  // bytes before the next
	kept []byte // the value that was read last
	long bool   // it was longer than maxEvent, and kept is its beginning
}

func newScanner(r io.Reader) *scanner { return &scanner{r: bufio.NewReaderSize(r, window)} }

const fixTrace = "give the file that torch.profiler's export_chrome_trace or tensorboard_trace_handler wrote"

// peek gives the next byte that is no blank, and leaves it.
func (s *scanner) peek() (byte, error) {
	for {
		b, err := s.r.ReadByte()
		if err != nil {
			return 0, err
		}
		if b == ' ' || b == '\n' || b == '\r' || b == '\t' {
			s.at++
			continue
		}
		return b, s.r.UnreadByte()
	}
}

// next takes the byte that peek gives.
func (s *scanner) next() (byte, error) {
	b, err := s.peek()
	if err == nil {
		_, _ = s.r.ReadByte()
		s.at++
	}
	return b, err
}

// expect takes one byte and refuses another.
func (s *scanner) expect(want byte) error {
	b, err := s.next()
	if err == nil && b != want {
		return broken(s.at-1, fixTrace, "%q where %q must stand", b, want)
	}
	return err
}

// value reads the next value whole into kept.
func (s *scanner) value() error {
	b, err := s.peek()
	if err != nil {
		return err
	}
	s.kept, s.long = s.kept[:0], false
	switch b {
	case '{', '[', '"':
		return s.nested()
	case ',', ':', '}', ']':
		return broken(s.at, fixTrace, "%q where a value must stand", b)
	}
	return s.scalar()
}

// nested reads an object, an array or a string up to its end.
func (s *scanner) nested() error {
	var n nesting
	for {
		piece, err := s.r.Peek(max(1, s.r.Buffered()))
		if len(piece) == 0 {
			return err
		}
		used, done := n.through(piece)
		if n.depth > maxDepth {
			return broken(s.at, fixTrace, "more than %d levels of nesting", maxDepth)
		}
		s.keep(piece[:used])
		s.drop(used)
		if done {
			return nil
		}
	}
}

// nesting is where in a value one is.
type nesting struct {
	depth           int
	quoted, escaped bool
}

// through goes on through a piece; done: the value ends with the last byte used.
func (n *nesting) through(piece []byte) (used int, done bool) {
	for i := 0; i < len(piece); i++ {
		c := piece[i]
		switch {
		case n.escaped:
			n.escaped = false
		case n.quoted:
			i += n.string(piece[i:])
			if i < len(piece) && !n.quoted && n.depth == 0 {
				return i + 1, true
			}
		case c == '"':
			n.quoted = true
		case c == '{' || c == '[':
			if n.depth++; n.depth > maxDepth {
				return i + 1, true
			}
		case c == '}' || c == ']':
			if n.depth--; n.depth <= 0 {
				return i + 1, true
			}
		}
	}
	return len(piece), false
}

// string goes on to the byte that ends a string or escapes another; the piece's length when neither is in it.
func (n *nesting) string(piece []byte) int {
	end := bytes.IndexByte(piece, '"')
	if end < 0 {
		end = len(piece)
	}
	if i := bytes.IndexByte(piece[:end], '\\'); i >= 0 {
		n.escaped = true
		return i
	}
	n.quoted = end == len(piece)
	return end
}

// scalar reads a number or a word.
func (s *scanner) scalar() error {
	for {
		piece, err := s.r.Peek(max(1, s.r.Buffered()))
		if len(piece) == 0 {
			if errors.Is(err, io.EOF) && len(s.kept) > 0 {
				return nil
			}
			return err
		}
		end := bytes.IndexAny(piece, ",]}: \t\r\n")
		if end < 0 {
			end = len(piece)
		}
		s.keep(piece[:end])
		s.drop(end)
		if end < len(piece) {
			return nil
		}
	}
}

func (s *scanner) keep(b []byte) {
	room := maxEvent - len(s.kept)
	if len(b) > room {
		b, s.long = b[:room], true
	}
	s.kept = append(s.kept, b...)
}

func (s *scanner) drop(n int) {
	_, _ = s.r.Discard(n)
	s.at += int64(n)
}

// fields calls f with the fields of an object that was read whole, values as they stand, until f has enough. It ends at what
// is not a field.
func fields(object []byte, f func(key, value []byte) (on bool)) {
	rest := past(object, '{')
	for len(rest) > 1 && rest[0] == '"' {
		end := bytes.IndexByte(rest[1:], '"')
		if end < 0 || end > maxKey {
			return
		}
		key := rest[1 : 1+end]
		rest = past(rest[end+2:], ' ')
		if len(rest) < 2 || rest[0] != ':' {
			return
		}
		rest = past(rest[1:], ' ')
		n := length(rest)
		if n == 0 {
			return
		}
		if !f(key, rest[:n]) {
			return
		}
		rest = past(rest[n:], ',')
	}
}

// past skips blanks, and another byte.
func past(text []byte, other byte) []byte {
	for i, b := range text {
		if b != ' ' && b != '\n' && b != '\r' && b != '\t' && b != other {
			return text[i:]
		}
	}
	return nil
}

// length of the value at the beginning of a text.
func length(text []byte) int {
	if len(text) == 0 {
		return 0
	}
	switch text[0] {
	case '{', '[', '"':
		var n nesting
		used, done := n.through(text)
		if !done {
			return 0
		}
		return used
	}
	if end := bytes.IndexAny(text, ",]} \t\r\n"); end >= 0 {
		return end
	}
	return len(text)
}

// unquoted is a string's inside, its escapes as they stand.
func unquoted(v []byte) []byte {
	if len(v) < 2 || v[0] != '"' {
		return nil
	}
	return v[1 : len(v)-1]
}
