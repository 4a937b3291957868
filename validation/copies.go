package validation

import (
	"fmt"
	"strconv"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/unit"
	"github.com/memwall/memwall/validation/packed"
)

const copyRows packed.File = "rows/copies.tsv"

// Predictions of each copy by a share of the link that was fitted without its device. The fit
// (validation/fit/copies) writes them.
const copyFolds packed.File = "rows/copy-folds.tsv"

var hostCopies = Measure{Name: "copies from the host, new device", About: "GB/s of a large copy from page-locked memory, its device left out of the fit", Target: 0.10}

// Copy is a measured rate of a large copy from the host's page-locked memory to a device.
type Copy struct {
	Line   int
	Device string
	Link   unit.ByteRate // of the datasheet, one way
	Rate   unit.ByteRate
	Source string
}

// Copies reads them. The error names the line.
func Copies() (out []Copy, err error) {
	err = eachRow(copyRows, func(line int, cells []string) error {
		c, err := readCopy(cells)
		c.Line = line
		out = append(out, c)
		return err
	})
	return out, err
}

func readCopy(cells []string) (c Copy, err error) {
	if len(cells) != 3 {
		return c, fmt.Errorf("%d cells, want 3", len(cells))
	}
	d, _, err := hardware.Find(cells[0])
	if err != nil {
		return c, err
	}
	link := d.PCIe.EachWay
	if d.Attached != nil && d.Attached.EachWay.Known {
		link = d.Attached.EachWay
	}
	if !link.Known {
		return c, fmt.Errorf("the link of %s to its host is not known", d.ID)
	}
	rate, err := strconv.ParseFloat(cells[1], 64)
	if err != nil || !(rate > 0) {
		return c, fmt.Errorf("%q is not a rate in GB/s", cells[1])
	}
	return Copy{Device: d.ID, Link: link.Value, Rate: unit.ByteRate(rate * 1e9), Source: cells[2]}, nil
}

// CompareCopies compares the stored predictions with the measurements, and both with the link rate.
func CompareCopies() (Set, []Comparison, error) {
	f, err := readFolds(copyFolds, 3)
	if err != nil {
		return Set{}, nil, err
	}
	all, err := Copies()
	if err != nil {
		return Set{}, nil, err
	}
	set := Set{Name: "copies", File: "copies.tsv", About: "large copies from the host's memory to a device", Rows: make([]Row, len(all))}
	var out []Comparison
	for i := range all {
		set.Rows[i] = all[i].row()
		r := &set.Rows[i]
		c := Comparison{Measure: &hostCopies, Row: r, Figure: copyFigure, Measured: r.Got[copyFigure], Naive: float64(all[i].Link) / 1e9}
		out = append(out, f.compare(c, 0, "no fit was made without it: go run ./validation/fit/copies"))
	}
	return set, out, nil
}

const copyFigure = "copy"

func (c *Copy) row() Row {
	ask := memwall.Request{}
	ask.Hardware = c.Device
	rate := float64(c.Rate) / 1e9
	return Row{Set: "copies", Line: c.Line, Source: c.Source, Kernel: "copy", Ask: ask,
		Got: map[string]Value{copyFigure: {Text: unit.Fixed(rate, 2), Mid: rate}}}
}
