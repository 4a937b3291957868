// Package window reads a file sequentially through a buffer of fixed size, so that a header of any length takes
// constant memory.
package window

import "io"

// Reader is a window on a file. Its bytes are unread; Advance moves it.
type Reader struct {
	src  io.ReaderAt
	end  int64  // bytes available in src
	off  int64  // offset of buf[0] in the file
	buf  []byte // unread bytes, a slice of room
	room []byte
	eof  bool
}

// New returns a window of at most room bytes on the first end bytes of src.
func New(src io.ReaderAt, end int64, room int) *Reader {
	return &Reader{src: src, end: end, room: make([]byte, max(1, min(int64(room), end)))}
}

// Offset returns the offset of the next unread byte.
func (r *Reader) Offset() int64 { return r.off }

// Left returns the number of bytes from the next unread one to the end; negative after advancing beyond it.
func (r *Reader) Left() int64 { return r.end - r.off }

// Bytes returns the buffered unread bytes, valid until the next Need.
func (r *Reader) Bytes() []byte { return r.buf }

// Advance skips n >= 0 bytes, without reading those not buffered.
func (r *Reader) Advance(n int64) {
	r.off += n
	if n >= int64(len(r.buf)) {
		r.buf = nil
		return
	}
	r.buf = r.buf[n:]
}

// Need buffers at least n bytes, at most the window's size. It returns io.ErrUnexpectedEOF if the file ends before, or
// the source's error.
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
