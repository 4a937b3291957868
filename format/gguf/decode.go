package gguf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"github.com/memwall/memwall/format"
	"github.com/memwall/memwall/format/internal/window"
	"github.com/memwall/memwall/unit"
)

// decoder reads the header sequentially. After the first error all reads return zero.
type decoder struct {
	w    *window.Reader
	have int64 // bytes available
	size int64 // size of the whole file
	big  bool  // big-endian
	wide bool  // 64-bit counts and lengths, since version 2
	old  bool  // strings may be zero-terminated, before version 3
	kept int64 // bytes retained
	err  error

	gaps  []Gap           // so far
	known map[int64]int64 // gaps of an earlier read: length by offset
}

func newDecoder(r io.ReaderAt, have, size int64) *decoder {
	have = min(have, size)
	return &decoder{w: window.New(r, have, room), have: have, size: size}
}

// fail sets the error, unless one is set.
func (d *decoder) fail(offset int64, field, fix, text string, args ...any) {
	if d.err == nil {
		d.err = &Error{Offset: offset, Field: field, Text: fmt.Sprintf(text, args...), Fix: fix}
	}
}

// damaged is fail for inconsistent files.
func (d *decoder) damaged(offset int64, field, text string, args ...any) {
	d.fail(offset, field, format.FetchAgain, text, args...)
}

// left returns the unread bytes of the file, or of the longest allowed header.
func (d *decoder) left() int64 { return min(d.size, maxHeader) - d.w.Offset() }

// need buffers n bytes and reports whether they exist.
func (d *decoder) need(n int, field string) bool {
	if d.err != nil {
		return false
	}
	if len(d.w.Bytes()) >= n {
		return true
	}
	if d.left() < int64(n) {
		d.ends(int64(n), field)
		return false
	}
	switch err := d.w.Need(n); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		d.ends(int64(n), field)
	case err != nil:
		d.err = fmt.Errorf("byte %s: reading %s: %w", unit.Count(d.w.Offset()), format.Quote(field), err)
	}
	return d.err == nil
}

// ends sets the error for a header that lacks the next n bytes.
func (d *decoder) ends(n int64, field string) {
	at := d.w.Offset()
	switch {
	case at+n <= d.size && at+n > maxHeader:
		d.damaged(at, field, "%s goes beyond the first %s; no header is that long", format.Quote(field), format.Size(maxHeader))
	case d.have < d.size && at+n <= d.size:
		d.err = &Error{Offset: d.have, Field: field, More: true, Fix: "read more of the file",
			Text: fmt.Sprintf("the header goes on beyond the %s bytes at hand, in %s", unit.Count(d.have), format.Quote(field))}
	default:
		d.damaged(d.size, field, "the file ends in the middle of %s", format.Quote(field))
	}
}

// skip skips n bytes, which must not exceed left.
func (d *decoder) skip(n int64) {
	if d.err == nil {
		d.w.Advance(n)
	}
}

// take returns the next n bytes, at most the buffer size, or nil.
func (d *decoder) take(n int, field string) []byte {
	if !d.need(n, field) {
		return nil
	}
	b := d.w.Bytes()[:n]
	d.w.Advance(int64(n))
	return b
}

func (d *decoder) u32(field string) uint32 {
	b := d.take(4, field)
	if b == nil {
		return 0
	}
	return d.order32(b)
}

func (d *decoder) u64(field string) uint64 {
	b := d.take(8, field)
	if b == nil {
		return 0
	}
	return d.order64(b)
}

func (d *decoder) order32(b []byte) uint32 {
	v := binary.LittleEndian.Uint32(b)
	if d.big {
		v = bits.ReverseBytes32(v)
	}
	return v
}

func (d *decoder) order64(b []byte) uint64 {
	v := binary.LittleEndian.Uint64(b)
	if d.big {
		v = bits.ReverseBytes64(v)
	}
	return v
}

// word reads a count or length: 32 bits in version 1, 64 bits later.
func (d *decoder) word(field string) uint64 {
	if d.wide {
		return d.u64(field)
	}
	return uint64(d.u32(field))
}

func (d *decoder) wordSize() int64 {
	if d.wide {
		return 8
	}
	return 4
}

// length reads and checks the length of a string; what names it in an error.
func (d *decoder) length(field, what string, limit int64) int64 {
	at := d.w.Offset()
	n := d.word(field)
	if d.err == nil {
		d.checkLength(at, n, field, what, limit)
	}
	if d.err != nil {
		return 0
	}
	return int64(n)
}

// checkLength checks the length n at offset at, which precedes the bytes it counts.
func (d *decoder) checkLength(at int64, n uint64, field, what string, limit int64) {
	switch {
	case n > uint64(max(0, d.size-at-d.wordSize())):
		d.damaged(at, field, "%s of %s bytes in a file of %s", what, grouped(n), format.Size(d.size))
	case n > uint64(limit):
		d.damaged(at, field, "%s of %s bytes; at most %s are allowed", what, grouped(n), unit.Count(limit))
	}
}

// text reads a string.
func (d *decoder) text(field, what string, limit int64) string {
	b := d.take(int(d.length(field, what, limit)), field)
	d.keep(int64(len(b)), field)
	return string(d.unterminated(b))
}

// unterminated drops the terminating zero byte that llama.cpp included in strings until August 2023, in versions 1 and
// 2 (https://github.com/ggml-org/llama.cpp/issues/2836).
func (d *decoder) unterminated(b []byte) []byte {
	if d.old {
		return bytes.TrimSuffix(b, []byte{0})
	}
	return b
}

// keep counts retained bytes.
func (d *decoder) keep(n int64, field string) {
	d.kept += n
	if d.kept > maxKept {
		d.damaged(d.w.Offset(), field, "names and values of more than %s; no model needs that", format.Size(maxKept))
	}
}

// count reads a count of things of at least least bytes each; before and after form the error's sentence.
func (d *decoder) count(field, before, after string, least, limit int64) int64 {
	at := d.w.Offset()
	n := d.word(field)
	if d.err != nil {
		return 0
	}
	switch fits := max(0, d.size-d.w.Offset()) / least; {
	case n > uint64(fits):
		d.damaged(at, field, "%s%s%s in a file of %s", before, grouped(n), after, format.Size(d.size))
	case n > uint64(limit):
		d.damaged(at, field, "%s%s%s; at most %s are allowed", before, grouped(n), after, unit.Count(limit))
	default:
		return int64(n)
	}
	return 0
}

// grouped formats an unsigned number with thousands separators.
func grouped(n uint64) string {
	if n < 1<<63 {
		return unit.Count(int64(n))
	}
	return unit.Count(int64(n/1000)) + fmt.Sprintf(",%03d", n%1000)
}

// magic checks the first four bytes, which do not depend on the byte order.
func (d *decoder) magic() {
	if d.have < 4 && d.have < d.size {
		d.ends(4, "magic")
		return
	}
	kind := format.Detect(d.head())
	if d.err == nil && kind != format.GGUF {
		d.fail(0, "magic", kind.Fix(), "this is %s, not GGUF", kind.Is())
	}
	d.skip(4)
}

// head returns the first bytes without consuming them.
func (d *decoder) head() []byte {
	n := int(min(d.have, format.DetectBytes))
	if n <= 0 || !d.need(n, "magic") {
		return nil
	}
	return d.w.Bytes()[:n]
}

// version reads the version, which reveals the byte order.
func (d *decoder) version() (v uint32, big bool) {
	at := d.w.Offset()
	v = d.u32("version")
	if d.err != nil {
		return 0, false
	}
	if swapped := bits.ReverseBytes32(v); v > swapped {
		v, d.big = swapped, true
	}
	d.wide, d.old = v >= 2, v < 3
	switch {
	case v == 0 || v > 255:
		d.damaged(at, "version", "version %s of GGUF; there are 1 to 3", unit.Count(int64(v)))
	case v > 3:
		d.fail(at, "version", "look for a newer memwall", "version %d of GGUF; this reader knows 1 to 3", v)
	}
	return v, d.big
}
