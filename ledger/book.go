package ledger

import (
	"math"

	"github.com/memwall/memwall/unit"
)

// Num is a number that, while a Book is recording, remembers how it was computed. Integers are exact up to 2^53.
type Num struct {
	V   float64
	ref int32 // index+1 into the Book's nodes; 0 if not recorded
}

// Most is the largest integer that Num.Int returns, 2^60, and -Most the smallest; sums of eight of them do not
// overflow. V holds larger values.
const Most = 1 << 60

// Bytes returns n rounded to a whole number of bytes.
func (n Num) Bytes() unit.Bytes { return unit.Bytes(n.Int()) }

// Int returns n rounded to an integer, clamped to ±Most.
func (n Num) Int() int64 { return int64(math.Round(max(-Most, min(n.V, Most)))) }

type verb uint8

const (
	input verb = iota
	add
	sub
	mul
	div
	padUp
	ceilDiv
	maxOf
	minOf
	floor
	ceil
	named
)

type node struct {
	verb   verb
	a, b   int32
	v      float64
	name   string
	origin string
}

// A Book computes numbers and records how, so that the formula printed later is the one that was evaluated. A nil Book
// computes the same numbers without recording or allocating.
type Book struct{ nodes []node }

// Reset discards all records and keeps the allocated memory.
func (k *Book) Reset() { k.nodes = k.nodes[:0] }

func (k *Book) record(n node) Num {
	if k == nil {
		return Num{V: n.v}
	}
	return k.write(n)
}

// write is apart, so that callers inline the way without a book alone: both would be 250 kB more of program.
//
//go:noinline
func (k *Book) write(n node) Num {
	k.nodes = append(k.nodes, n)
	return Num{V: n.v, ref: int32(len(k.nodes))}
}

// In introduces an input: its name in formulas, its value, and where the value comes from.
func (k *Book) In(name string, v float64, origin string) Num {
	return k.record(node{verb: input, v: v, name: name, origin: origin})
}

// Int introduces an integer input.
func (k *Book) Int(name string, v int64, origin string) Num { return k.In(name, float64(v), origin) }

// Size introduces an input in bytes.
func (k *Book) Size(name string, v unit.Bytes, origin string) Num {
	return k.In(name, float64(v), origin)
}

// Lit returns an unnamed constant, which formulas show as its value.
func (k *Book) Lit(v float64) Num { return k.record(node{verb: input, v: v}) }

// Name names an intermediate result; formulas refer to it by that name.
func (k *Book) Name(name string, n Num) Num {
	return k.record(node{verb: named, a: n.ref, v: n.V, name: name})
}

func (k *Book) two(v verb, a, b Num, x float64) Num {
	return k.record(node{verb: v, a: a.ref, b: b.ref, v: x})
}

// Add returns the sum of its arguments.
func (k *Book) Add(a Num, more ...Num) Num {
	for _, b := range more {
		a = k.two(add, a, b, a.V+b.V)
	}
	return a
}

// Mul returns the product of its arguments.
func (k *Book) Mul(a Num, more ...Num) Num {
	for _, b := range more {
		a = k.two(mul, a, b, a.V*b.V)
	}
	return a
}

// Sub returns a-b.
func (k *Book) Sub(a, b Num) Num { return k.two(sub, a, b, a.V-b.V) }

// Div returns a/b.
func (k *Book) Div(a, b Num) Num { return k.two(div, a, b, a.V/b.V) }

// PadUp returns integer a rounded up to a multiple of integer b.
func (k *Book) PadUp(a, b Num) Num {
	return k.two(padUp, a, b, float64(unit.PadUp(int64(a.V), int64(b.V))))
}

// CeilDiv returns the quotient of two integers, rounded up.
func (k *Book) CeilDiv(a, b Num) Num {
	return k.two(ceilDiv, a, b, float64(unit.CeilDiv(int64(a.V), int64(b.V))))
}

// Max returns the larger of a and b.
func (k *Book) Max(a, b Num) Num { return k.two(maxOf, a, b, max(a.V, b.V)) }

// Min returns the smaller of a and b.
func (k *Book) Min(a, b Num) Num { return k.two(minOf, a, b, min(a.V, b.V)) }

// Ceil returns a rounded up to an integer.
func (k *Book) Ceil(a Num) Num {
	return k.record(node{verb: ceil, a: a.ref, v: math.Ceil(a.V)})
}

// Floor returns a rounded down to an integer.
func (k *Book) Floor(a Num) Num {
	return k.record(node{verb: floor, a: a.ref, v: math.Floor(a.V)})
}
