package hardware

import (
	"fmt"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

// Conflict is a figure of a device that another source gives differently. Neither is hidden: Ours is what is reckoned with.
type Conflict struct {
	Figure       string // "memory", "bandwidth", or a number format of a peak
	Unit         string // "B", "B/s", "FLOP/s"
	Ours, Theirs Fact[float64]
	Why          string // ours is taken; empty when no source says
}

// Conflicts gives what other sources say of a device's figures.
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

// scales are the units of conflicts.tsv in units without a prefix.
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

// bareNumber is a fact as a bare number.
func bareNumber[T Quantity](f Fact[T]) Fact[float64] {
	return Fact[float64]{Value: float64(f.Value), Known: f.Known, Basis: f.Basis, Source: f.Source}
}
