package ledger

import (
	"math"

	"github.com/memwall/memwall/unit"
)

// Item is one line of a ledger. Low..High is the 90 % band around Bytes; both equal Bytes when exact.
type Item struct {
	ID     string
	Name   string
	Bytes  unit.Bytes
	Low    unit.Bytes
	High   unit.Bytes
	Basis  Basis
	Life   Life
	Place  Place
	Source string
	// Unknown reports that the size cannot be determined; Bytes is then a lower bound, and so is every sum that includes
	// it.
	Unknown bool
	// Why is the root of the formula in the Book that computed the item.
	Why   Num
	Items []Item
}

// Known returns an item without a band.
func Known(id, name string, n Num, basis Basis, life Life, place Place, source string) Item {
	b := n.Bytes()
	return Item{ID: id, Name: name, Bytes: b, Low: b, High: b, Basis: basis, Life: life, Place: place, Source: source, Why: n}
}

// Band returns the item with the band low..high, extended to include its value.
func (it Item) Band(low, high unit.Bytes) Item {
	it.Low, it.High = max(0, min(low, it.Bytes)), max(high, it.Bytes)
	return it
}

// Total is a sum of items.
type Total struct {
	Bytes, Low, High unit.Bytes
	Basis            Basis
	Unknown          bool
}

// Sum adds items. Bytes add exactly. Bands add in quadrature, because the errors of different items (activations, a
// driver's context, fragmentation) have independent causes. An unknown item makes the sum a lower bound with no upper
// edge.
func Sum(items []Item) Total {
	var s sum
	for i := range items {
		s.add(&items[i])
	}
	return s.total()
}

// sum accumulates a Total, with the squared widths of its band.
type sum struct {
	Total
	down, up float64
}

func (s *sum) add(it *Item) {
	s.Bytes += it.Bytes
	s.Basis = max(s.Basis, it.Basis)
	s.Unknown = s.Unknown || it.Unknown
	s.down += square(it.Bytes - it.Low)
	s.up += square(it.High - it.Bytes)
}

func (s *sum) total() Total {
	s.Low = s.Bytes - unit.Bytes(math.Round(math.Sqrt(s.down)))
	s.High = s.Bytes + unit.Bytes(math.Round(math.Sqrt(s.up)))
	return s.Total
}

func square(b unit.Bytes) float64 { return float64(b) * float64(b) }

// Leaves calls f for every item without parts, depth first.
func Leaves(items []Item, f func(*Item)) {
	for i := range items {
		if len(items[i].Items) > 0 {
			Leaves(items[i].Items, f)
			continue
		}
		f(&items[i])
	}
}

// Find returns the first top-level item with the given ID, or nil.
func Find(items []Item, id string) *Item {
	for i := range items {
		if items[i].ID == id {
			return &items[i]
		}
	}
	return nil
}

// At returns the sum of the items held in place p.
func At(items []Item, p Place) Total {
	var s sum
	for i := range items {
		if items[i].Place == p {
			s.add(&items[i])
		}
	}
	return s.total()
}
