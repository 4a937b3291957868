package examples

import (
	"math"
	"testing"
)

func TestSaid(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		name      string
		s         Said
		text      string
		low, high float64
	}{
		{"half a unit of the last digit", said("14", gb), "14 GB", 13.5e9, 14.5e9},
		{"decimals", said("0.33", mb), "0.33 MB", 0.325e6, 0.335e6},
		{"thousands", said("1,979", tflops), "1,979 TFLOP/s", 1978.5e12, 1979.5e12},
		{"a step", rounded("330", gb, 10), "330 GB", 325e9, 335e9},
		{"about, 5 %", about("84", gb), "~84 GB", 79.8e9, 88.2e9},
		{"about, where rounding is wider", about("4", times), "~4×", 3.5, 4.5},
		{"a range", span("20", "30", pct), "20–30 %", 0.195, 0.305},
		{"about a range", aboutSpan("20", "30", gb), "~20–30 GB", 19e9, 31.5e9},
		{"from", atLeast("80", gb), "80+ GB", 79.5e9, inf},
		{"words, above", most("fits", 5, gb), "fits", -inf, 5},
		{"words, below", least("more", 5, gb), "more", 5, inf},
	} {
		near := func(a, b float64) bool { return a == b || math.Abs(a-b) < 1e-9*math.Abs(b) }
		if c.s.Text != c.text || !near(c.s.Low, c.low) || !near(c.s.High, c.high) {
			t.Errorf("%s: %q %v..%v, want %q %v..%v", c.name, c.s.Text, c.s.Low, c.s.High, c.text, c.low, c.high)
		}
	}
}

func TestHolds(t *testing.T) {
	eighty := said("80", gb)
	for _, c := range []struct {
		v               float64
		decimal, binary bool
		off             float64
	}{
		{80e9, true, false, 0},
		{80.4e9, true, false, 0},
		{80 << 30, false, true, 85.899345920/80.5 - 1},
		{100e9, false, false, 100/80.5 - 1},
		{70e9, false, false, 70/79.5 - 1},
	} {
		if d, b := eighty.Holds(c.v), eighty.HoldsBinary(c.v); d != c.decimal || b != c.binary || math.Abs(eighty.Off(c.v)-c.off) > 1e-9 {
			t.Errorf("%g: %v %v %v, want %v %v %v", c.v, d, b, eighty.Off(c.v), c.decimal, c.binary, c.off)
		}
	}
}

// A bound in words is in bytes already: no prefix can be misread.
func TestBoundHasNoPrefix(t *testing.T) {
	if most("fits", 80e9, gb).HoldsBinary(84e9) {
		t.Error("84 GB within 80 GB")
	}
}

// Verdicts that do not go with their values are found out.
func TestCheck(t *testing.T) {
	gbs := func(said Said, when string, v float64) Finding { return Finding{Said: said, When: when, Value: v} }
	f14, b80 := said("14", gb), said("80", gb)
	bound := func(r Role, v float64) Finding { return Finding{Said: f14, Value: v, Role: r} }
	for _, c := range []struct {
		name  string
		v     Verdict
		waits Topic
		found []Finding
		ok    bool
	}{
		{"right", Right, "", []Finding{gbs(f14, "", 14.4e9)}, true},
		{"right, and not", Right, "", []Finding{gbs(f14, "", 14.4e9), gbs(f14, "", 15e9)}, false},
		{"right without a value", Right, "", nil, false},
		{"right by a mistaken prefix", Right, "", []Finding{gbs(b80, "", 80<<30)}, false},
		{"unit", UnitSlip, "", []Finding{gbs(b80, "", 80<<30)}, true},
		{"unit, and right as it is", UnitSlip, "", []Finding{gbs(b80, "", 80e9)}, false},
		{"wrong", Wrong, "", []Finding{gbs(f14, "", 20e9)}, true},
		{"wrong, by one percent", Wrong, "", []Finding{gbs(f14, "", 14.6e9)}, false},
		{"wrong, by its prefix only", Wrong, "", []Finding{gbs(b80, "", 80<<30)}, false},
		{"depends", Depends, "", []Finding{gbs(f14, "a", 14e9), gbs(f14, "b", 20e9)}, true},
		{"depends, on both sides", Depends, "", []Finding{gbs(f14, "a", 7e9), gbs(f14, "b", 20e9)}, true},
		{"depends, on one side", Depends, "", []Finding{gbs(f14, "a", 19e9), gbs(f14, "b", 20e9)}, false},
		{"depends, never off", Depends, "", []Finding{gbs(f14, "a", 14e9), gbs(f14, "b", 14e9)}, false},
		{"depends on what", Depends, "", []Finding{gbs(f14, "", 14e9), gbs(f14, "", 20e9)}, false},
		{"depends, one value", Depends, "", []Finding{gbs(f14, "a", 14e9)}, false},
		{"stale", Stale, "", []Finding{gbs(f14, "then", 14e9), gbs(f14, "now", 3e9)}, true},
		{"stale, the wrong way", Stale, "", []Finding{gbs(f14, "then", 3e9), gbs(f14, "now", 14e9)}, false},
		{"later", Later, Simulation, []Finding{bound(Ceiling, 20e9)}, true},
		{"later, without a topic", Later, "", []Finding{bound(Ceiling, 20e9)}, false},
		{"later, and yet judged", Later, Simulation, []Finding{gbs(f14, "", 14e9)}, false},
		{"later, over the ceiling", Later, Simulation, []Finding{bound(Ceiling, 10e9)}, false},
		{"later, under the floor", Later, Simulation, []Finding{bound(Floor, 20e9)}, false},
		{"no verdict", "maybe", "", []Finding{gbs(f14, "", 14e9)}, false},
	} {
		r := Row{Verdict: c.v, Waits: c.waits}
		if err := r.Check(c.found); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
