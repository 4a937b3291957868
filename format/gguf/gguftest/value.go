package gguftest

import (
	"encoding/binary"
	"math"
)

// Value is a metadata value: one of the types below.
type Value interface {
	kind() uint32
	append(e encoding, out []byte) []byte
}

// The value types of GGUF (enum gguf_type of ggml/include/gguf.h).
type (
	U8   uint8
	I8   int8
	U16  uint16
	I16  int16
	U32  uint32
	I32  int32
	F32  float32
	Bool bool
	Str  string
	U64  uint64
	I64  int64
	F64  float64
	// Array is an array of one of the types above.
	Array[T Value] []T
	// Raw is any type number and the bytes that follow it.
	Raw struct {
		Type  uint32
		Bytes []byte
	}
	// Lying is an array head that claims N elements and brings the given bytes.
	Lying struct {
		Type  uint32
		N     uint64
		Bytes []byte
	}
	// LongStr is a string head that claims N bytes and brings none.
	LongStr uint64
)

func (U8) kind() uint32       { return 0 }
func (I8) kind() uint32       { return 1 }
func (U16) kind() uint32      { return 2 }
func (I16) kind() uint32      { return 3 }
func (U32) kind() uint32      { return 4 }
func (I32) kind() uint32      { return 5 }
func (F32) kind() uint32      { return 6 }
func (Bool) kind() uint32     { return 7 }
func (Str) kind() uint32      { return 8 }
func (Array[T]) kind() uint32 { return 9 }
func (U64) kind() uint32      { return 10 }
func (I64) kind() uint32      { return 11 }
func (F64) kind() uint32      { return 12 }
func (r Raw) kind() uint32    { return r.Type }
func (Lying) kind() uint32    { return 9 }
func (LongStr) kind() uint32  { return 8 }

func (v U8) append(_ encoding, out []byte) []byte  { return append(out, byte(v)) }
func (v I8) append(_ encoding, out []byte) []byte  { return append(out, byte(v)) }
func (v U16) append(e encoding, out []byte) []byte { return e.order.AppendUint16(out, uint16(v)) }
func (v I16) append(e encoding, out []byte) []byte { return e.order.AppendUint16(out, uint16(v)) }
func (v U32) append(e encoding, out []byte) []byte { return e.u32(out, uint32(v)) }
func (v I32) append(e encoding, out []byte) []byte { return e.u32(out, uint32(v)) }
func (v F32) append(e encoding, out []byte) []byte { return e.u32(out, math.Float32bits(float32(v))) }
func (v U64) append(e encoding, out []byte) []byte { return e.order.AppendUint64(out, uint64(v)) }
func (v I64) append(e encoding, out []byte) []byte { return e.order.AppendUint64(out, uint64(v)) }
func (v Str) append(e encoding, out []byte) []byte { return e.text(out, string(v)) }
func (r Raw) append(_ encoding, out []byte) []byte { return append(out, r.Bytes...) }

func (v F64) append(e encoding, out []byte) []byte {
	return e.order.AppendUint64(out, math.Float64bits(float64(v)))
}

func (v Bool) append(_ encoding, out []byte) []byte {
	if v {
		return append(out, 1)
	}
	return append(out, 0)
}

func (a Array[T]) append(e encoding, out []byte) []byte {
	var zero T
	out = e.word(e.u32(out, zero.kind()), uint64(len(a)))
	for _, v := range a {
		out = v.append(e, out)
	}
	return out
}

func (l Lying) append(e encoding, out []byte) []byte {
	return append(e.word(e.u32(out, l.Type), l.N), l.Bytes...)
}

func (n LongStr) append(e encoding, out []byte) []byte { return e.word(out, uint64(n)) }

// byteOrder is both halves of a byte order.
type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// encoding is how a version and byte order write numbers.
type encoding struct {
	version uint32
	order   byteOrder
	wide    bool // counts and lengths of 64 bits
}

func (e encoding) u32(out []byte, v uint32) []byte { return e.order.AppendUint32(out, v) }

func (e encoding) word(out []byte, v uint64) []byte {
	if e.wide {
		return e.order.AppendUint64(out, v)
	}
	return e.order.AppendUint32(out, uint32(v))
}

func (e encoding) text(out []byte, s string) []byte {
	return append(e.word(out, uint64(len(s))), s...)
}

func (e encoding) info(out []byte, t Info) []byte {
	out = e.u32(e.text(out, t.Name), uint32(len(t.Dims)))
	for _, d := range t.Dims {
		out = e.word(out, d)
	}
	return e.order.AppendUint64(e.u32(out, t.Type), t.Offset)
}
