package hardware

import (
	"fmt"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

// Conflict is a figure on which another source disagrees. Ours is the one used; both are shown.
type Conflict struct {
	Figure       string // "memory", "bandwidth", or a number format of a peak
	Unit         string // "B", "B/s", "FLOP/s"
	Ours, Theirs Fact[float64]
	Why          string // reason for preferring ours; "" if no source gives one
}

// Conflicts returns what other sources say about a device's figures.
func Conflicts(d *Device) (out []Conflict) {
	for id, row := range conflicts.lines() {
		if id != d.ID {
			continue
		}
		if c, err := readConflict(row, d); err == nil {
			out = append(out, c)
		}
	}
	return out
}

// scales maps the units of conflicts.tsv to units without a prefix.
var scales = map[string]struct {
	unit string
	by   float64
}{"GiB": {"B", float64(unit.GiB)}, "GB/s": {"B/s", gbs}, "TFLOP/s": {"FLOP/s", tflops}}

func readConflict(row row, d *Device) (Conflict, error) {
	r := &reader{row: row}
	s, ok := scales[r.text("unit")]
	x := r.figure("value")
	if !ok || !x.known {
		r.fail("unit", r.text("unit"))
		return Conflict{}, r.err
	}
	c := Conflict{Figure: r.text("figure"), Unit: s.unit, Why: r.text("why"), Theirs: fact(x.value*s.by, ledger.Vendor, r.text("source"))}
	switch c.Figure {
	case "memory":
		c.Ours = bareNumber(d.Memory)
	case "bandwidth":
		c.Ours = bareNumber(d.Bandwidth)
	default:
		c.Ours = bareNumber(d.Peaks.At(c.Figure))
	}
	if !c.Ours.Known {
		r.fail("figure", fmt.Sprintf("%s, which %s does not have", c.Figure, d.ID))
	}
	return c, r.err
}

// bareNumber returns the fact as a float64.
func bareNumber[T Quantity](f Fact[T]) Fact[float64] {
	return Fact[float64]{Value: float64(f.Value), Known: f.Known, Basis: f.Basis, Source: f.Source}
}
