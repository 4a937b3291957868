package hardware

import (
	"strings"
	"testing"
)

// TestMPS: a client of MPS has an equal part of memory and arithmetic and all of the bandwidth; other numbers and other vendors are refused.
func TestMPS(t *testing.T) {
	whole, _, err := Parse("h100", 1)
	if err != nil {
		t.Fatal(err)
	}
	m, notes, err := Parse("h100,mps=4", 1)
	if err != nil || len(notes) == 0 {
		t.Fatal(notes, err)
	}
	d, of := &m.Groups[0].Device, &whole.Groups[0].Device
	if d.Usable.Value != of.Usable.Value/4 || d.Peaks.BF16.Value != of.Peaks.BF16.Value/4 || d.Bandwidth.Value != of.Bandwidth.Value {
		t.Errorf("%v of %v, %v of %v, %v of %v", d.Usable.Value, of.Usable.Value, d.Peaks.BF16.Value, of.Peaks.BF16.Value,
			d.Bandwidth.Value, of.Bandwidth.Value)
	}
	for _, text := range []string{"h100,mps=1", "h100,mps=49", "h100,mps=x", "mi300x,mps=2", "m4-max,mps=2", "h100+a100,mps=2"} {
		if _, _, err := Parse(text, 1); err == nil || !strings.Contains(err.Error(), "mps") && !strings.Contains(err.Error(), "+") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
