package card

import (
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/hardware"
)

// TestExplained: every device of the catalog has the same figures in the same order, each with what it decides;
// those of the datasheet are the device's own.
func TestExplained(t *testing.T) {
	var names []string
	for _, d := range hardware.All() {
		h := &Hardware{HardwareRow: hardwareRow(&d), Usable: factOf(d.Usable, "B"), LinkEachWay: factOf(d.Link.EachWay, "B/s"),
			TDP: factOf(d.TDP, "W")}
		h.rates(&d)
		h.Explained()
		if names == nil {
			for _, w := range h.Why {
				names = append(names, w.Name)
			}
		}
		for i, w := range h.Why {
			if len(h.Why) != len(names) || w.Name != names[i] || len(w.Text) < 20 {
				t.Errorf("%s: %+v", d.ID, w)
			}
			if w.Name == "bandwidth" && d.Bandwidth.Known && w.Fact.Value != float64(d.Bandwidth.Value) || w.Name == "power" &&
				(w.Fact != nil) != d.TDP.Known {
				t.Errorf("%s: %+v", d.ID, w.Fact)
			}
		}
	}
	if len(names) < 8 {
		t.Errorf("%d figures", len(names))
	}
}

// A device of one's own has a card, with what was said and dashes for all else.
func TestOwnHardware(t *testing.T) {
	h, err := HardwareOf(memwall.Catalog{}, "name=x,memory=24GiB,bandwidth=1TB/s,bf16=80TFLOPS")
	if err != nil || h.Name != "x" || h.Ridge == nil || h.Ridge.Value != 80 || h.L2 != nil || len(h.Holds) == 0 || h.Rents != nil {
		t.Errorf("%+v, %v", h, err)
	}
}
