package gguf

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// kind is the type of a metadata value (enum gguf_type of ggml/include/gguf.h).
type kind uint32

const (
	kindU8 kind = iota
	kindI8
	kindU16
	kindI16
	kindU32
	kindI32
	kindF32
	kindBool
	kindString
	kindArray
	kindU64
	kindI64
	kindF64
)

var kinds = [...]struct {
	name string
	size int
}{
	{"u8", 1}, {"i8", 1}, {"u16", 2}, {"i16", 2}, {"u32", 4}, {"i32", 4}, {"f32", 4}, {"bool", 1},
	{"string", 0}, {"array", 0}, {"u64", 8}, {"i64", 8}, {"f64", 8},
}

func (k kind) known() bool { return int64(k) < int64(len(kinds)) }

// size returns the size of a number; 0 for strings, arrays and unknown types.
func (k kind) size() int {
	if !k.known() {
		return 0
	}
	return kinds[k].size
}

// bits reads a number of the kind: signed ones sign-extended, floats as raw bits.
func (k kind) bits(b []byte, big bool) uint64 {
	v := order(b[:k.size()], big)
	switch k {
	case kindI8:
		return uint64(int8(v))
	case kindI16:
		return uint64(int16(v))
	case kindI32:
		return uint64(int32(v))
	}
	return v
}

func order(b []byte, big bool) uint64 {
	var wide [8]byte
	copy(wide[:], b)
	v := binary.LittleEndian.Uint64(wide[:])
	if big {
		v = bits.ReverseBytes64(v) >> (64 - 8*len(b))
	}
	return v
}

// signed reports whether the bits are those of an int64.
func (k kind) signed() bool { return k == kindI8 || k == kindI16 || k == kindI32 || k == kindI64 }

func (k kind) integer() bool {
	return k.signed() || k == kindU8 || k == kindU16 || k == kindU32 || k == kindU64
}

func (k kind) int(v uint64) (int64, bool) {
	if !k.integer() || !k.signed() && v > math.MaxInt64 {
		return 0, false
	}
	return int64(v), true
}

func (k kind) float(v uint64) (float64, bool) {
	switch k {
	case kindF32:
		return float64(math.Float32frombits(uint32(v))), true
	case kindF64:
		return math.Float64frombits(v), true
	}
	return 0, false
}

func (k kind) bool(v uint64) (set, ok bool) { return k == kindBool && v != 0, k == kindBool }

// pair is one key and its value.
type pair struct {
	key   string
	at    int64 // offset of the pair in the file
	kind  kind  // of the elements, if an array
	array bool
	n     int64  // number of elements; bytes, if a string
	bits  uint64 // a number
	text  string // a string of at most keptString bytes
	raw   []byte // an array of at most keptElems numbers, as stored
}

func (f *File) find(key string) *pair {
	i, ok := f.index[key]
	if !ok {
		return nil
	}
	return &f.meta[i]
}

func (f *File) scalar(key string) *pair {
	if p := f.find(key); p != nil && !p.array {
		return p
	}
	return nil
}

// Keys returns the metadata keys in file order.
func (f *File) Keys() []string {
	keys := make([]string, len(f.meta))
	for i := range f.meta {
		keys[i] = f.meta[i].key
	}
	return keys
}

// Type returns the type of a value: "u32", "string", "[]i32"; "" if the key does not exist.
func (f *File) Type(key string) string {
	p := f.find(key)
	switch {
	case p == nil:
		return ""
	case p.array:
		return "[]" + kinds[p.kind].name
	}
	return kinds[p.kind].name
}

// Uint returns a non-negative integer of any width. Like all accessors it does not convert between integers, floats and
// bools: llama.cpp rejects files that mix them.
func (f *File) Uint(key string) (uint64, bool) {
	p := f.scalar(key)
	if p == nil || !p.kind.integer() || p.kind.signed() && int64(p.bits) < 0 {
		return 0, false
	}
	return p.bits, true
}

// Int returns an integer of any width that fits.
func (f *File) Int(key string) (int64, bool) {
	p := f.scalar(key)
	if p == nil {
		return 0, false
	}
	return p.kind.int(p.bits)
}

// Float returns a floating-point number.
func (f *File) Float(key string) (float64, bool) {
	p := f.scalar(key)
	if p == nil {
		return 0, false
	}
	return p.kind.float(p.bits)
}

// Bool returns a bool.
func (f *File) Bool(key string) (v, ok bool) {
	p := f.scalar(key)
	if p == nil {
		return false, false
	}
	return p.kind.bool(p.bits)
}

// String returns a text of at most 64 KiB; of longer ones only StringLen is known.
func (f *File) String(key string) (string, bool) {
	p := f.scalar(key)
	if p == nil || p.kind != kindString || p.n != int64(len(p.text)) {
		return "", false
	}
	return p.text, true
}

// StringLen returns the length of a text in bytes.
func (f *File) StringLen(key string) (int64, bool) {
	p := f.scalar(key)
	if p == nil || p.kind != kindString {
		return 0, false
	}
	return p.n, true
}

// ArrayLen returns the number of elements of an array, retained or not.
func (f *File) ArrayLen(key string) (int64, bool) {
	p := f.find(key)
	if p == nil || !p.array {
		return 0, false
	}
	return p.n, true
}

// Ints returns an array of integers, or a single integer as an array. Arrays of more than 65,536 elements are not
// retained.
func (f *File) Ints(key string) ([]int64, bool) { return elements(f, key, kind.int) }

// Floats is Ints for floating-point numbers.
func (f *File) Floats(key string) ([]float64, bool) { return elements(f, key, kind.float) }

// Bools is Ints for bools.
func (f *File) Bools(key string) ([]bool, bool) { return elements(f, key, kind.bool) }

func elements[T any](f *File, key string, convert func(kind, uint64) (T, bool)) ([]T, bool) {
	p := f.find(key)
	if p == nil {
		return nil, false
	}
	if !p.array {
		return one(convert(p.kind, p.bits))
	}
	if _, ok := convert(p.kind, 0); !ok || int64(len(p.raw)) != p.n*int64(p.kind.size()) {
		return nil, false
	}
	out := make([]T, p.n)
	for i := range out {
		v, ok := convert(p.kind, p.kind.bits(p.raw[i*p.kind.size():], f.BigEndian))
		if !ok {
			return nil, false
		}
		out[i] = v
	}
	return out, true
}

func one[T any](v T, ok bool) ([]T, bool) {
	if !ok {
		return nil, false
	}
	return []T{v}, true
}

// Architecture returns general.architecture, "" only for later files of a split model.
func (f *File) Architecture() string {
	s, _ := f.String("general.architecture")
	return s
}

// Arch prefixes a key with the architecture: Arch("block_count") is "llama.block_count".
func (f *File) Arch(key string) string { return f.Architecture() + "." + key }
