package hardware

import (
	"cmp"
	"math"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

// Quantity is what a Fact can hold.
type Quantity interface{ ~int | ~int64 | ~float64 }

// Fact is a figure with its band low..high, where it comes from and how. The zero Fact is unknown.
type Fact[T Quantity] struct {
	Value, Low, High T
	Basis            ledger.Basis
	Source           string // key of a Source; Cite gives the words
	Known            bool
}

func fact[T Quantity](v T, basis ledger.Basis, source string) Fact[T] {
	return Fact[T]{Value: v, Low: v, High: v, Basis: basis, Source: source, Known: true}
}

// band widens a fact to low..high, kept around its value.
func (f Fact[T]) band(low, high T) Fact[T] {
	f.Low, f.High = min(low, f.Value), max(high, f.Value)
	return f
}

// weaker gives the fact with the weaker of two bases.
func (f Fact[T]) weaker(b ledger.Basis) Fact[T] {
	f.Basis = max(f.Basis, b)
	return f
}

// times multiplies the figure and its band.
func (f Fact[T]) times(n T) Fact[T] {
	f.Value, f.Low, f.High = f.Value*n, f.Low*n, f.High*n
	return f
}

// or gives the fact, or the other one when it is unknown.
func (f Fact[T]) or(other Fact[T]) Fact[T] {
	if f.Known {
		return f
	}
	return other
}

// lesser gives the smaller of two facts; unknown when either is.
func lesser[T Quantity](a, b Fact[T]) Fact[T] {
	switch {
	case !a.Known || !b.Known:
		return Fact[T]{}
	case cmp.Less(b.Value, a.Value):
		return b
	}
	return a
}

// bytesOf rounds x units to whole bytes.
func bytesOf(x float64, of unit.Bytes) unit.Bytes {
	return unit.Bytes(math.Round(x * float64(of)))
}

// Source is where a figure was found.
type Source struct {
	Key      string
	Citation string
	Date     string // of the source, or of the reading; "" when neither is known
}

// Cite gives the source of a Fact by its key.
func Cite(key string) (Source, bool) {
	r, ok := sources.row(key)
	if !ok {
		return Source{}, false
	}
	return Source{Key: key, Citation: r.text("citation"), Date: r.text("date")}, true
}
