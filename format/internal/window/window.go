// Package window walks a file front to back through a buffer of fixed size, so that a header of any length
// is read in the same memory.
package window

import "io"

// Reader is a window on a file. The bytes in it are unread; Advance moves it on.
type Reader struct {
	src  io.ReaderAt
	end  int64  // bytes that src holds
	off  int64  // place of buf[0] in the file
	buf  []byte // unread bytes, a part of room
	room []byte
	eof  bool
}

// New makes a window of at most room bytes on the first end bytes of src.
func New(src io.ReaderAt, end int64, room int) *Reader {
	return &Reader{src: src, end: end, room: make([]byte, max(1, min(int64(room), end)))}
}

// Offset is the place of the next unread byte.
func (r *Reader) Offset() int64 { return r.off }

// Left is how many bytes lie between the next unread byte and the end; below zero after an Advance
// beyond it.
func (r *Reader) Left() int64 { return r.end - r.off }

// Bytes are the unread bytes at hand. They are valid until the next Need.
func (r *Reader) Bytes() []byte { return r.buf }

// Advance moves on by n >= 0 bytes without reading those that are not at hand.
func (r *Reader) Advance(n int64) {
	r.off += n
	if n >= int64(len(r.buf)) {
		r.buf = nil
		return
	}
	r.buf = r.buf[n:]
}

// Need brings at least n bytes to hand, n no more than the room. It gives io.ErrUnexpectedEOF when the file
// ends before, and otherwise the error of the source.
func (r *Reader) Need(n int) error {
	if len(r.buf) >= n {
		return nil
	}
	if r.eof || r.Left() < int64(n) {
		return io.ErrUnexpectedEOF
	}
	return r.fill(n)
}

func (r *Reader) fill(n int) error {
	kept := copy(r.room, r.buf)
	want := r.room[kept:min(int64(len(r.room)), r.Left())]
	got, err := r.src.ReadAt(want, r.off+int64(kept))
	got = min(max(got, 0), len(want))
	r.buf = r.room[:kept+got]
	switch {
	case len(r.buf) >= n:
		return nil
	case err == io.EOF:
		r.eof = true
		return io.ErrUnexpectedEOF
	case err == nil:
		return io.ErrNoProgress
	}
	return err
}
