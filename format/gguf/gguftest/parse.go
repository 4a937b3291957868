package gguftest

import (
	"encoding/binary"
	"slices"
)

// Parse takes the header of a right file of size bytes apart, version 3 and little-endian, so that a test can change
// one thing of it: values are kept as bytes. It panics at what is no such header.
func Parse(header []byte, size int64) *Builder {
	p := parsing{header}
	b := &Builder{Version: 3}
	p.next(8)
	tensors, pairs := p.u64(), p.u64()
	for range pairs {
		b.Set(p.text(), p.value())
	}
	for range tensors {
		b.tensors = append(b.tensors, p.info())
	}
	b.data = size - b.pad(int64(len(header)-len(p.rest)))
	return b
}

// Without leaves pairs out whose keys drop chooses.
func (b *Builder) Without(drop func(key string) bool) *Builder {
	c := *b
	c.pairs = slices.DeleteFunc(slices.Clone(b.pairs), func(p pair) bool { return drop(p.key) })
	return &c
}

// Changed is a copy of the file with another value of a key.
func (b *Builder) Changed(key string, v Value) *Builder {
	c := *b
	c.pairs = slices.Clone(b.pairs)
	for i := range c.pairs {
		if c.pairs[i].key == key {
			c.pairs[i].value = v
		}
	}
	return &c
}

// Number is a pair whose value is integers: one, or an array.
type Number struct {
	Key    string
	Array  bool
	Values []int64
	kind   uint32
}

// Numbers lists the pairs whose values are integers, arrays of at most most ones.
func (b *Builder) Numbers(most int) (out []Number) {
	for _, p := range b.pairs {
		w := encoding{version: 3, order: binary.LittleEndian, wide: true}
		n := Number{Key: p.key, kind: p.value.kind()}
		in := parsing{p.value.append(w, nil)}
		count := uint64(1)
		if n.Array = n.kind == 9; n.Array {
			n.kind, count = in.u32(), in.u64()
		}
		if sizes[n.kind] == 0 || n.kind == 6 || n.kind == 7 || n.kind == 12 || count > uint64(most) {
			continue
		}
		for range count {
			n.Values = append(n.Values, signed(n.kind, in.next(sizes[n.kind])))
		}
		out = append(out, n)
	}
	return out
}

// With is the value of other integers, in the type that the pair has.
func (n *Number) With(values ...int64) Value {
	var b []byte
	if n.Array {
		b = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(b, n.kind), uint64(len(values)))
	}
	for _, v := range values {
		b = append(b, binary.LittleEndian.AppendUint64(nil, uint64(v))[:sizes[n.kind]]...)
	}
	if n.Array {
		return Raw{Type: 9, Bytes: b}
	}
	return Raw{Type: n.kind, Bytes: b}
}

// sizes of values in bytes by type; 0 for texts and arrays.
var sizes = [13]int{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8}

func signed(kind uint32, b []byte) int64 {
	v := binary.LittleEndian.Uint64(append(slices.Clone(b), make([]byte, 8-len(b))...))
	shift := 64 - 8*len(b)
	if kind == 1 || kind == 3 || kind == 5 {
		return int64(v<<shift) >> shift
	}
	return int64(v)
}

type parsing struct{ rest []byte }

func (p *parsing) next(n int) []byte {
	out := p.rest[:n]
	p.rest = p.rest[n:]
	return out
}

func (p *parsing) u32() uint32  { return binary.LittleEndian.Uint32(p.next(4)) }
func (p *parsing) u64() uint64  { return binary.LittleEndian.Uint64(p.next(8)) }
func (p *parsing) text() string { return string(p.next(int(p.u64()))) }

func (p *parsing) value() Value {
	kind := p.u32()
	whole := p.rest
	p.skip(kind)
	return Raw{Type: kind, Bytes: whole[:len(whole)-len(p.rest)]}
}

func (p *parsing) skip(kind uint32) {
	switch kind {
	case 8:
		p.text()
	case 9:
		kind := p.u32()
		for n := p.u64(); n > 0; n-- {
			p.skip(kind)
		}
	default:
		p.next(sizes[kind])
	}
}

func (p *parsing) info() Info {
	t := Info{Name: p.text()}
	for range p.u32() {
		t.Dims = append(t.Dims, p.u64())
	}
	t.Type, t.Offset = p.u32(), p.u64()
	return t
}

// Tensors lists the tensors in the order of the file.
func (b *Builder) Tensors() []Info { return b.tensors }

// WithoutTensor leaves a tensor out; the others move up.
func (b *Builder) WithoutTensor(name string) *Builder {
	out := *b
	out.tensors, out.data = nil, 0
	for i, t := range b.tensors {
		end := uint64(b.data)
		if i+1 < len(b.tensors) {
			end = b.tensors[i+1].Offset
		}
		if t.Name != name {
			out.Sized(t, int64(end-t.Offset))
		}
	}
	return &out
}
