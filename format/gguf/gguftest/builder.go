// Package gguftest writes GGUF files for tests: any metadata, tensors without data, any version and byte order, and
// invalid headers. It shares no code with the reader.
//
// New starts a valid file; Header returns its bytes, File the whole as a sparse file. Counts, Tail, RawTensor and the
// values Raw, Lying and LongStr make it invalid. llama.go has a header with the shape of a real one.
package gguftest

import (
	"encoding/binary"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/format/internal/sparse"
)

// Builder collects a file. The zero value is an empty file of version 3 without an architecture.
type Builder struct {
	Version   uint32 // 0 means 3
	BigEndian bool
	Alignment int64 // 0 means 32; a general.alignment is not added by itself

	pairs    []pair
	tensors  []Info
	data     int64 // end of the tensor data so far
	nTensors *uint64
	nPairs   *uint64
	tail     []byte
}

type pair struct {
	key   string
	value Value
}

// Info is a tensor as it stands in the file.
type Info struct {
	Name   string
	Dims   []uint64
	Type   uint32
	Offset uint64
}

// New begins a file with the architecture.
func New(architecture string) *Builder {
	return new(Builder).Set("general.architecture", Str(architecture))
}

// Set appends a metadata pair.
func (b *Builder) Set(key string, v Value) *Builder {
	b.pairs = append(b.pairs, pair{key, v})
	return b
}

// Tensor appends a tensor of a known format behind the one before.
func (b *Builder) Tensor(name string, f *dtype.Format, dims ...int64) *Builder {
	n := int64(1)
	wide := make([]uint64, len(dims))
	for i, d := range dims {
		n *= d
		wide[i] = uint64(d)
	}
	rows := int64(1)
	if len(dims) > 0 && dims[0] > 0 {
		rows = n / dims[0]
	}
	return b.Sized(Info{Name: name, Dims: wide, Type: uint32(f.GGML)}, int64(f.Row(n))+(rows-1)*f.RowBytes)
}

// Sized appends a tensor of any type that takes the given bytes, behind the one before; its Offset is set.
func (b *Builder) Sized(t Info, bytes int64) *Builder {
	t.Offset = uint64(b.data)
	b.tensors = append(b.tensors, t)
	b.data = b.pad(b.data + bytes)
	return b
}

// RawTensor appends a tensor as it is, without room in the data.
func (b *Builder) RawTensor(t Info) *Builder {
	b.tensors = append(b.tensors, t)
	return b
}

// Counts replaces the true numbers of tensors and pairs in the header.
func (b *Builder) Counts(tensors, pairs uint64) *Builder {
	b.nTensors, b.nPairs = &tensors, &pairs
	return b
}

// Tail appends bytes to the header as they are.
func (b *Builder) Tail(bytes []byte) *Builder {
	b.tail = append(b.tail, bytes...)
	return b
}

func (b *Builder) pad(n int64) int64 {
	a := b.Alignment
	if a == 0 {
		a = 32
	}
	return (n + a - 1) / a * a
}

// Infos gives the bytes up to the end of the tensor infos, without the padding before the data.
func (b *Builder) Infos() []byte {
	e := b.encoding()
	out := e.u32([]byte("GGUF"), e.version)
	out = e.word(out, count(b.nTensors, len(b.tensors)))
	out = e.word(out, count(b.nPairs, len(b.pairs)))
	for _, p := range b.pairs {
		out = e.u32(e.text(out, p.key), p.value.kind())
		out = p.value.append(e, out)
	}
	for _, t := range b.tensors {
		out = e.info(out, t)
	}
	return append(out, b.tail...)
}

// Header gives the bytes before the tensor data.
func (b *Builder) Header() []byte {
	out := b.Infos()
	if len(b.tensors) == 0 {
		return out
	}
	return append(out, make([]byte, b.pad(int64(len(out)))-int64(len(out)))...)
}

// File gives the whole file: the header, then zeros that take no memory.
func (b *Builder) File() *Sparse {
	h := b.Header()
	return &Sparse{Head: h, Len: int64(len(h)) + b.data}
}

func (b *Builder) encoding() encoding {
	v := b.Version
	if v == 0 {
		v = 3
	}
	e := encoding{version: v, order: binary.LittleEndian, wide: v >= 2}
	if b.BigEndian {
		e.order = binary.BigEndian
	}
	return e
}

func count(forced *uint64, n int) uint64 {
	if forced != nil {
		return *forced
	}
	return uint64(n)
}

// Sparse is a file of Len bytes that begins with Head and is zero after it.
type Sparse = sparse.File
