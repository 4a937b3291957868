package pickle

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

const (
	window = 256 << 10
	// longestText is how much of a string is retained; the rest is skipped.
	longestText = 64 << 10
	// longestLine is the maximum length of a line of protocol 0.
	longestLine = 1 << 20
)

// scanner reads a stream.
type scanner struct {
	r    io.Reader
	buf  []byte
	pos  int
	done int64 // bytes before buf
	text []byte
}

func (s *scanner) offset() int64 { return s.done + int64(s.pos) }

func (s *scanner) wrong(at int64, problem string, args ...any) error {
	return &Error{at, fmt.Sprintf(problem, args...)}
}

// fill reads more input; io.EOF at the end.
func (s *scanner) fill() error {
	if s.buf == nil {
		s.buf = make([]byte, 0, window)
	}
	rest := copy(s.buf[:cap(s.buf)], s.buf[s.pos:])
	s.done, s.pos = s.offset(), 0
	n, err := io.ReadAtLeast(s.r, s.buf[rest:cap(s.buf)], 1)
	s.buf = s.buf[:rest+n]
	if n > 0 {
		return nil
	}
	return err
}

// ended returns the error for a truncated stream.
func (s *scanner) ended(err error, start int64, what string) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return s.wrong(s.offset(), "the file ends here, within %s that begins at byte %d: it is not whole", what, start)
	}
	return err
}

func (s *scanner) byte() (byte, error) {
	for s.pos >= len(s.buf) {
		if err := s.fill(); err != nil {
			return 0, s.ended(err, 0, "the pickle")
		}
	}
	b := s.buf[s.pos]
	s.pos++
	return b, nil
}

// few returns the next n bytes, at most 255, valid until the next call.
func (s *scanner) few(n int) ([]byte, error) {
	start := s.offset()
	for len(s.buf)-s.pos < n {
		if err := s.fill(); err != nil {
			return nil, s.ended(err, start, "a number")
		}
	}
	b := s.buf[s.pos : s.pos+n]
	s.pos += n
	return b, nil
}

// number reads a little-endian number of n bytes.
func (s *scanner) number(n int) (x uint64, err error) {
	b, err := s.few(n)
	for i := len(b) - 1; i >= 0; i-- {
		x = x<<8 | uint64(b[i])
	}
	return x, err
}

// pass skips n bytes and returns at most the first keep of them, valid until the next call. Memory use depends on the
// actual input, not on n.
func (s *scanner) pass(n uint64, keep int, what string) ([]byte, error) {
	start := s.offset()
	s.text = s.text[:0]
	for left := n; left > 0; {
		if s.pos == len(s.buf) {
			if err := s.fill(); err != nil {
				return nil, s.ended(err, start, fmt.Sprintf("%s of %d bytes", what, n))
			}
		}
		piece := s.buf[s.pos:]
		if uint64(len(piece)) > left {
			piece = piece[:left]
		}
		s.text = append(s.text, piece[:min(len(piece), keep-len(s.text))]...)
		s.pos += len(piece)
		left -= uint64(len(piece))
	}
	return s.text, nil
}

// line reads a line, without its end.
func (s *scanner) line() ([]byte, error) {
	start := s.offset()
	s.text = s.text[:0]
	for {
		if i := bytes.IndexByte(s.buf[s.pos:], '\n'); i >= 0 {
			s.text = append(s.text, s.buf[s.pos:s.pos+i]...)
			s.pos += i + 1
			return bytes.TrimSuffix(s.text, []byte("\r")), nil
		}
		s.text = append(s.text, s.buf[s.pos:]...)
		s.pos = len(s.buf)
		if len(s.text) > longestLine {
			return nil, s.wrong(start, "a line of more than %d bytes", longestLine)
		}
		if err := s.fill(); err != nil {
			return nil, s.ended(err, start, "a line")
		}
	}
}
