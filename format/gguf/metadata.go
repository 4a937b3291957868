package gguf

import (
	"github.com/memwall/memwall/format"
	"github.com/memwall/memwall/unit"
)

// minPair returns the size of the smallest pair: a one-letter key, a type, a one-byte value.
func (d *decoder) minPair() int64 { return d.wordSize() + 1 + 4 + 1 }

// metadata reads n pairs.
func (d *decoder) metadata(f *File, n int64) {
	for i := int64(0); i < n && d.err == nil; i++ {
		d.pair(f, i, n)
	}
}

func (d *decoder) pair(f *File, i, n int64) {
	at := d.w.Offset()
	key := d.text("metadata", "a name", maxKey)
	switch _, twice := f.index[key]; {
	case d.err != nil:
		return
	case key == "":
		d.damaged(at, "metadata", "metadata pair %s of %s has no name", unit.Count(i+1), unit.Count(n))
		return
	case twice:
		d.damaged(at, key, "the key %s stands twice", format.Quote(key))
		return
	}
	p := pair{key: key, at: at}
	d.value(&p)
	d.keep(pairBytes, key)
	f.index[key] = len(f.meta)
	f.meta = append(f.meta, p)
}

// pairBytes is the approximate memory of a pair without its key and value.
const pairBytes = 128

func (d *decoder) value(p *pair) {
	at := d.w.Offset()
	p.kind = kind(d.u32(p.key))
	switch {
	case d.err != nil:
	case p.kind == kindArray:
		d.array(p)
	case p.kind == kindString:
		p.n, p.text = d.shortString(p.key, keptString)
	case p.kind.size() > 0:
		p.n, p.bits = 1, d.number(p.kind, p.key)
	default:
		d.damaged(at, p.key, "%s is of type %d; GGUF has types 0 to 12", format.Quote(p.key), uint32(p.kind))
	}
}

// shortString reads a string, retaining it if it has at most limit bytes.
func (d *decoder) shortString(key string, limit int64) (n int64, text string) {
	n = d.length(key, format.Quote(key)+": a text", maxString)
	if n > limit {
		d.skipped(n, key)
		return n, ""
	}
	b := d.unterminated(d.take(int(n), key))
	d.keep(n, key)
	return int64(len(b)), string(b)
}

// skipped skips n bytes, which must be available.
func (d *decoder) skipped(n int64, field string) {
	if d.err == nil && n > min(d.left(), d.w.Left()) {
		d.ends(n, field)
	}
	if d.err == nil {
		d.gap(d.w.Offset(), n)
	}
	d.skip(n)
}

// leastGap is the shortest gap that is reported.
const leastGap = 4 << 10

// gap records skipped bytes, merging adjacent ranges.
func (d *decoder) gap(at, n int64) {
	last := len(d.gaps) - 1
	switch {
	case last >= 0 && d.gaps[last].At+d.gaps[last].Bytes == at:
		d.gaps[last].Bytes += n
		return
	case last >= 0 && d.gaps[last].Bytes < leastGap:
		d.gaps = d.gaps[:last]
	}
	d.gaps = append(d.gaps, Gap{at, n})
}

// number reads one number as raw bits, in native byte order.
func (d *decoder) number(k kind, field string) uint64 {
	b := d.take(k.size(), field)
	if b == nil {
		return 0
	}
	return k.bits(b, d.big)
}

func (d *decoder) array(p *pair) {
	at := d.w.Offset()
	p.array, p.kind = true, kind(d.u32(p.key))
	switch {
	case d.err != nil:
		return
	case p.kind == kindArray:
		d.damaged(at, p.key, "%s is an array of arrays, which no reader of GGUF takes", format.Quote(p.key))
		return
	case !p.kind.known():
		d.damaged(at, p.key, "%s is an array of type %d; GGUF has types 0 to 12", format.Quote(p.key), uint32(p.kind))
		return
	}
	least := int64(p.kind.size())
	if p.kind == kindString {
		least = d.wordSize()
	}
	p.n = d.count(p.key, format.Quote(p.key)+": an array of ", " values", least, maxArray)
	d.elements(p)
}

func (d *decoder) elements(p *pair) {
	n := p.n * int64(p.kind.size())
	switch {
	case p.kind == kindString:
		d.strings(p)
	case p.n > keptElems:
		d.skipped(n, p.key)
	default:
		p.raw = d.copied(n, p.key)
	}
}

// copied reads n bytes in pieces that fit the buffer.
func (d *decoder) copied(n int64, field string) []byte {
	if d.err == nil && n > d.left() {
		d.ends(n, field)
	}
	d.keep(n, field)
	var out []byte
	for n > 0 && d.err == nil {
		part := min(n, room/2)
		out = append(out, d.take(int(part), field)...)
		n -= part
	}
	return out
}

// strings skips an array of strings.
func (d *decoder) strings(p *pair) {
	if n, ok := d.known[d.w.Offset()]; ok && d.err == nil {
		d.skipped(n, p.key)
		return
	}
	word := int(d.wordSize())
	for i := int64(0); i < p.n; {
		if !d.need(word, p.key) {
			return
		}
		n, bytes := d.run(p.key, p.n-i)
		i += n
		d.skipped(bytes, p.key)
	}
}

// run measures at most limit strings that begin in the buffer: their number, and total size including lengths.
func (d *decoder) run(field string, limit int64) (n, bytes int64) {
	buf, word, start := d.w.Bytes(), d.wordSize(), d.w.Offset()
	most := uint64(min(d.size-start, maxString))
	for bytes+word <= int64(len(buf)) && n < limit {
		l := d.peekWord(buf[bytes:])
		if l > most || bytes+word+int64(l) > d.size-start {
			d.checkLength(start+bytes, l, field, format.Quote(field)+": a text", maxString)
			return n, 0
		}
		bytes += word + int64(l)
		n++
	}
	return n, bytes
}

func (d *decoder) peekWord(b []byte) uint64 {
	if d.wide {
		return d.order64(b)
	}
	return uint64(d.order32(b))
}
