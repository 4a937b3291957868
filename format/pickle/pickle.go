// Package pickle reads Python pickles of plain data: dicts, lists, tuples, strings, numbers, bools and None, in
// protocols 0 to 5. Anything that names a class, calls a function or refers to a persistent object is rejected with its
// offset; nothing is imported or executed.
//
// A pickle is a program for a stack machine. Reader interprets it in one pass over a stream. A client may replace a
// dict or list as soon as it is complete, so that gigabytes of uniform records take no more memory than what the client
// keeps.
//
// See pickle.go for values, read.go for the interpreter, scan.go for input, and opcodes.go for what is rejected and
// why.
package pickle

import "math"

// Kind is the kind of a value.
type Kind uint8

// Kinds of values. Big is an integer beyond 64 bits, whose value is not retained.
const (
	None Kind = iota
	Bool
	Int
	Big
	Float
	Text
	List
	Dict
	Tuple
	Packed
)

// Value is a plain value, or a client's replacement of one.
type Value struct {
	Kind Kind
	tag  uint8
	more uint32 // packed values that follow in a list, with consecutive numbers
	n    uint64
	of   *Container
}

// Container is a list, a tuple, or a dict's keys and values alternately.
type Container struct {
	Kind  Kind
	Items []Value
	memo  uint32
	known bool // memo is its memo index
	kept  bool // and the reader retains it
}

// Int returns the value of an integer or bool.
func (v Value) Int() (n int64, ok bool) { return int64(v.n), v.Kind == Int || v.Kind == Bool }

// Float returns the value of a number.
func (v Value) Float() (x float64, ok bool) {
	if v.Kind == Float {
		return math.Float64frombits(v.n), true
	}
	return float64(int64(v.n)), v.Kind == Int
}

// Of returns the container of a list, tuple or dict; nil for other values.
func (v Value) Of() *Container { return v.of }

// Pack returns a value that replaces a container; tag and number are the client's.
func Pack(tag uint8, number uint64) Value { return Value{Kind: Packed, tag: tag, n: number} }

// Unpack returns the tag and first number of a packed value, and how many consecutive ones it represents.
func (v Value) Unpack() (tag uint8, number, count uint64, ok bool) {
	return v.tag, v.n, uint64(v.more) + 1, v.Kind == Packed
}

// Is reports whether a value is the given string.
func (v Value) Is(w Word) bool { return v.Kind == Text && v.n == uint64(w) }

// Word identifies a string within one reader.
type Word uint32

// At returns the value of a key; the last one if duplicated.
func (c *Container) At(key Word) (Value, bool) {
	if c == nil || c.Kind != Dict {
		return Value{}, false
	}
	for i := len(c.Items) - 2; i >= 0; i -= 2 {
		if c.Items[i].Is(key) {
			return c.Items[i+1], true
		}
	}
	return Value{}, false
}

// add appends a value, merging packed values with consecutive numbers.
func (c *Container) add(v Value) (grown bool) {
	if n := len(c.Items); v.Kind == Packed && c.Kind == List && n > 0 && c.Items[n-1].followedBy(v) {
		c.Items[n-1].more++
		return false
	}
	c.Items = append(c.Items, v)
	return true
}

func (v *Value) followedBy(w Value) bool {
	return v.Kind == Packed && v.tag == w.tag && w.more == 0 && v.more < math.MaxUint32 && v.n+uint64(v.more)+1 == w.n
}

// Word returns the identifier of a string.
func (v Value) Word() (w Word, ok bool) { return Word(v.n), v.Kind == Text }
