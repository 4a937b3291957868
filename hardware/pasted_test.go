package hardware

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestPasted: what people write of hardware is read as they mean it.
func TestPasted(t *testing.T) {
	text, err := os.ReadFile("testdata/pasted.tsv")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		said, want, ok := strings.Cut(strings.TrimRight(line, "\n"), "\t")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		n++
		if got := told(said); got != want {
			t.Errorf("%q is %s, want %s", said, got, want)
		}
	}
	if n < 100 {
		t.Errorf("%d rows", n)
	}
}

func told(text string) string {
	m, _, err := Parse(text, 0)
	switch {
	case err != nil:
		return "-"
	case len(m.Groups) == 0:
		return "cpu"
	}
	var out []string
	for _, g := range m.Groups {
		out = append(out, fmt.Sprintf("%dx%s", g.Count, g.Device.ID))
	}
	return strings.Join(out, " ")
}

// TestSlices: every profile is a share of its device, found again by its id, and no more of them fit than the device has.
func TestSlices(t *testing.T) {
	for id, r := range slices7.lines() {
		whole, _, err := Find(r.second())
		if err != nil {
			t.Fatal(err)
		}
		part, _, err := Find(strings.Replace(id, r.second()+".", r.second()+"-", 1))
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		again, _, err := Find(part.ID)
		if err != nil || again.ID != part.ID {
			t.Errorf("%s is not found again: %v", part.ID, err)
		}
		if part.Memory.Value > whole.Memory.Value || part.Usable.Value > part.Memory.Value ||
			part.Bandwidth.Value > whole.Bandwidth.Value || part.Peaks.FP16.Value > whole.Peaks.FP16.Value {
			t.Errorf("%s is more than its device", id)
		}
	}
	if _, _, err := Find("h100 5g.50gb"); err == nil || !strings.Contains(err.Error(), "1g.10gb") {
		t.Errorf("a profile that is none: %v", err)
	}
}

func FuzzCounts(f *testing.F) {
	for _, s := range []string{"H100 x2", "3090x4", "7900xtx", "8 H100", "two 4090", "24GB", "a100 mig 3g.40gb", "x2", "*2", "dual", "g.",
		"1g.1gb", "9999999 x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, _, err := Parse(text, 0)
		if err == nil && m.Devices() > MaxDevices {
			t.Fatalf("%q: %d devices", text, m.Devices())
		}
	})
}
