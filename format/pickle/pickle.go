// Package pickle reads Python's pickles of plain data: dicts, lists, tuples, texts, numbers, bools and None, protocols 0 to 5.
// What names a class, calls a function or asks for an object by a name of its own is refused with its offset; nothing is ever
// imported or run.
//
// A pickle is a program for a stack. Reader interprets it in one pass over a stream. A client may pack a dict or a list as
// soon as it is whole, so that gigabytes of equal records take no more than what the client keeps of them.
//
// Open pickle.go for values, read.go for the interpreter, scan.go for its bytes, opcodes.go for what is refused and why.
package pickle

import "math"

// Kind of a value.
type Kind uint8

// Kinds of values. A Big is an integer beyond 64 bits, whose value is not kept.
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

// Value is a plain value, or what a client made of one.
type Value struct {
	Kind Kind
	tag  uint8
	more uint32 // packed values that follow this one in a list, each a number higher
	n    uint64
	of   *Container
}

// Container is a list, a tuple, or the keys and values of a dict in turn.
type Container struct {
	Kind  Kind
	Items []Value
	memo  uint32
	known bool // memo is its number
	kept  bool // and the reader keeps it
}

// Int is the value of an integer or a bool; ok is false for others.
func (v Value) Int() (n int64, ok bool) { return int64(v.n), v.Kind == Int || v.Kind == Bool }

// Float is the value of a number.
func (v Value) Float() (x float64, ok bool) {
	if v.Kind == Float {
		return math.Float64frombits(v.n), true
	}
	return float64(int64(v.n)), v.Kind == Int
}

// Of is the container that a list, a tuple or a dict is; nil for others.
func (v Value) Of() *Container { return v.of }

// Pack makes the value that stands for a container from now on: tag and number are the client's.
func Pack(tag uint8, number uint64) Value { return Value{Kind: Packed, tag: tag, n: number} }

// Unpack gives the tag and the first number of a packed value, and how many consecutive ones it stands for.
func (v Value) Unpack() (tag uint8, number, count uint64, ok bool) {
	return v.tag, v.n, uint64(v.more) + 1, v.Kind == Packed
}

// Is reports whether a value is the text that a reader knows by a word.
func (v Value) Is(w Word) bool { return v.Kind == Text && v.n == uint64(w) }

// Word is a text by its number in one reader.
type Word uint32

// At is the value of a key; the later one where a key stands twice.
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

// add puts a value at the end; packed values of consecutive numbers become one.
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

// Word is the number of a text in its reader; ok is false for others.
func (v Value) Word() (w Word, ok bool) { return Word(v.n), v.Kind == Text }
