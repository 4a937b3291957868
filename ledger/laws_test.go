package ledger

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/memwall/memwall/unit"
)

func randomItem(r *rand.Rand) Item {
	it := Known("x", "x", Num{V: float64(r.Int64N(1 << 40))}, Basis(r.IntN(5)), Persistent, Place(r.IntN(5)), "")
	if r.IntN(2) == 0 {
		it = it.Band(it.Bytes-unit.Bytes(r.Int64N(1<<38)), it.Bytes+unit.Bytes(r.Int64N(1<<38)))
	}
	it.Unknown = r.IntN(9) == 0
	return it
}

// TestLawsOfSums: order does not count, groups are their parts, places part the whole, and a band stays
// around its value, no narrower than its widest part and no wider than all of them.
func TestLawsOfSums(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	for range 500 {
		items := make([]Item, 1+r.IntN(12))
		var all Item
		for i := range items {
			items[i] = randomItem(r)
			all.Low += items[i].Bytes - items[i].Low
			all.High = max(all.High, items[i].High-items[i].Bytes)
		}
		s := Sum(items)
		shuffled := append([]Item(nil), items...)
		r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if o := Sum(shuffled); o.Bytes != s.Bytes || o.Basis != s.Basis || o.Unknown != s.Unknown || apart(o.Low, s.Low) ||
			apart(o.High, s.High) {
			t.Fatalf("%+v in another order: %+v", s, o)
		}
		if g := group("g", "g", items...); g.Bytes != s.Bytes || g.Low != s.Low || g.High != s.High || g.Basis != s.Basis ||
			g.Unknown != s.Unknown {
			t.Fatalf("%+v as a group: %+v", s, g)
		}
		var placed unit.Bytes
		for p := Device; p <= Disk; p++ {
			placed += At(items, p).Bytes
		}
		if placed != s.Bytes {
			t.Fatalf("%d over all places, %d in all", placed, s.Bytes)
		}
		if s.Low > s.Bytes || s.High < s.Bytes || s.Low < s.Bytes-all.Low-1 || s.High < s.Bytes+all.High-1 {
			t.Fatalf("%+v: band of parts %d down, %d up at most", s, all.Low, all.High)
		}
	}
}

func apart(a, b unit.Bytes) bool { return a-b > 1 || b-a > 1 }

// TestLeavesAreCountedOnce: groups in groups hold the same bytes as their leaves.
func TestLeavesAreCountedOnce(t *testing.T) {
	a, b, c := item("a", 100, 90, 120), item("b", 50, 50, 50), item("c", 7, 7, 9)
	top := []Item{group("g", "g", a, group("h", "h", b, c)), c}
	var sum unit.Bytes
	n := 0
	Leaves(top, func(it *Item) { sum += it.Bytes; n++ })
	if sum != 164 || n != 4 || Sum(top).Bytes != sum {
		t.Errorf("%d bytes in %d leaves, %d in all", sum, n, Sum(top).Bytes)
	}
	if Find(top, "g") != &top[0] || Find(top, "h") != nil {
		t.Error("an item is found at the wrong level")
	}
}

// TestNumbersBeyondCounting: they end at 2^60 in bytes and stay what they are in V.
func TestNumbersBeyondCounting(t *testing.T) {
	for _, v := range []float64{1e19, math.MaxFloat64, math.Inf(1), -1e19, math.Inf(-1)} {
		n := Num{V: v}
		if want := unit.Bytes(math.Copysign(Most, v)); n.Bytes() != want || n.Int() != int64(want) {
			t.Errorf("%g is %d bytes", v, int64(n.Bytes()))
		}
	}
	if n := (Num{V: 1<<53 - 1}); n.Bytes() != 1<<53-1 {
		t.Errorf("%d", n.Bytes())
	}
}

// group makes an item of parts: its size and band are those of their Sum, its basis their weakest.
func group(id, name string, parts ...Item) Item {
	t := Sum(parts)
	g := Item{ID: id, Name: name, Bytes: t.Bytes, Low: t.Low, High: t.High, Basis: t.Basis, Unknown: t.Unknown, Items: parts}
	if len(parts) > 0 {
		g.Life, g.Place, g.Source = parts[0].Life, parts[0].Place, parts[0].Source
	}
	return g
}
