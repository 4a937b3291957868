package ledger

import (
	"math"

	"github.com/memwall/memwall/unit"
)

// Num is a number that remembers, only while a Book records, how it was made. Whole numbers are exact
// up to 2^53, which is 8 PiB.
type Num struct {
	V   float64
	ref int32 // index+1 into the Book's nodes; 0 when nothing was recorded
}

// Most is the largest whole number that a Num gives, 2^60, and -Most the least: eight of them can still be
// added. What is larger is V alone.
const Most = 1 << 60

// Bytes gives a whole number of bytes.
func (n Num) Bytes() unit.Bytes { return unit.Bytes(n.Int()) }

// Int gives a whole number.
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

// Book computes numbers and, unless it is nil, records how: the formula that is printed later is the one
// that was evaluated. A nil Book computes the same numbers and allocates nothing.
type Book struct{ nodes []node }

// Reset forgets everything and keeps the memory.
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

// Int introduces a whole input.
func (k *Book) Int(name string, v int64, origin string) Num { return k.In(name, float64(v), origin) }

// Size introduces an input in bytes.
func (k *Book) Size(name string, v unit.Bytes, origin string) Num {
	return k.In(name, float64(v), origin)
}

// Lit is a number that needs no name: it is printed as itself.
func (k *Book) Lit(v float64) Num { return k.record(node{verb: input, v: v}) }

// Name gives an intermediate result a name of its own, under which formulas show it.
func (k *Book) Name(name string, n Num) Num {
	return k.record(node{verb: named, a: n.ref, v: n.V, name: name})
}

func (k *Book) two(v verb, a, b Num, x float64) Num {
	return k.record(node{verb: v, a: a.ref, b: b.ref, v: x})
}

// Add gives the sum of its arguments.
func (k *Book) Add(a Num, more ...Num) Num {
	for _, b := range more {
		a = k.two(add, a, b, a.V+b.V)
	}
	return a
}

// Mul gives the product of its arguments.
func (k *Book) Mul(a Num, more ...Num) Num {
	for _, b := range more {
		a = k.two(mul, a, b, a.V*b.V)
	}
	return a
}

// Sub gives a-b.
func (k *Book) Sub(a, b Num) Num { return k.two(sub, a, b, a.V-b.V) }

// Div gives a/b.
func (k *Book) Div(a, b Num) Num { return k.two(div, a, b, a.V/b.V) }

// PadUp rounds whole a up to a multiple of whole b.
func (k *Book) PadUp(a, b Num) Num {
	return k.two(padUp, a, b, float64(unit.PadUp(int64(a.V), int64(b.V))))
}

// CeilDiv divides whole numbers, rounding up.
func (k *Book) CeilDiv(a, b Num) Num {
	return k.two(ceilDiv, a, b, float64(unit.CeilDiv(int64(a.V), int64(b.V))))
}

// Max gives the larger.
func (k *Book) Max(a, b Num) Num { return k.two(maxOf, a, b, max(a.V, b.V)) }

// Min gives the smaller.
func (k *Book) Min(a, b Num) Num { return k.two(minOf, a, b, min(a.V, b.V)) }

// Ceil rounds up.
func (k *Book) Ceil(a Num) Num {
	return k.record(node{verb: ceil, a: a.ref, v: math.Ceil(a.V)})
}

// Floor rounds down.
func (k *Book) Floor(a Num) Num {
	return k.record(node{verb: floor, a: a.ref, v: math.Floor(a.V)})
}
