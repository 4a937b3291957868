package hardware

import (
	"cmp"
	"math"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

// Quantity is what a Fact can hold.
type Quantity interface{ ~int | ~int64 | ~float64 }

// Fact is a figure with its band low..high, its basis and its source. The zero Fact is unknown.
type Fact[T Quantity] struct {
	Value, Low, High T
	Basis            ledger.Basis
	Source           string // key of a Source; see Cite
	Known            bool
}

func fact[T Quantity](v T, basis ledger.Basis, source string) Fact[T] {
	return Fact[T]{Value: v, Low: v, High: v, Basis: basis, Source: source, Known: true}
}

// band returns the fact with the band low..high, extended to include its value.
func (f Fact[T]) band(low, high T) Fact[T] {
	f.Low, f.High = min(low, f.Value), max(high, f.Value)
	return f
}

// weaker returns the fact with the weaker of its basis and b.
func (f Fact[T]) weaker(b ledger.Basis) Fact[T] {
	f.Basis = max(f.Basis, b)
	return f
}

// times returns the fact multiplied by n, band included.
func (f Fact[T]) times(n T) Fact[T] {
	f.Value, f.Low, f.High = f.Value*n, f.Low*n, f.High*n
	return f
}

// or returns the fact if known, and other otherwise.
func (f Fact[T]) or(other Fact[T]) Fact[T] {
	if f.Known {
		return f
	}
	return other
}

// lesser returns the smaller of two facts; unknown if either is.
func lesser[T Quantity](a, b Fact[T]) Fact[T] {
	switch {
	case !a.Known || !b.Known:
		return Fact[T]{}
	case cmp.Less(b.Value, a.Value):
		return b
	}
	return a
}

// bytesOf converts x units to bytes, rounding.
func bytesOf(x float64, of unit.Bytes) unit.Bytes {
	return unit.Bytes(math.Round(x * float64(of)))
}

// Source is where a figure was found.
type Source struct {
	Key      string
	Citation string
	Date     string // of publication, or of retrieval; "" if neither is known
}

// Cite returns the source with the key of a Fact.
func Cite(key string) (Source, bool) {
	r, ok := sources.row(key)
	if !ok {
		return Source{}, false
	}
	return Source{Key: key, Citation: r.text("citation"), Date: r.text("date")}, true
}
