package hardware

import (
	"strings"
	"testing"

	"github.com/memwall/memwall/unit"
)

// TestVirtualGPUs: names as guests print them, boards by the abbreviations of their profiles, and what a profile leaves: of a T4-16C
// without ECC 16,384 − (16,384/16 + 16 + 128) MiB, and a sixteenth less at the low edge.
func TestVirtualGPUs(t *testing.T) {
	for name, want := range map[string]string{
		"A40-24C": "a40-24c", "NVIDIA A40-24Q": "a40-24c", "GRID T4-8Q": "t4-8c", "GRID A100D-20C": "a100-pcie-80gb-20c",
		"H100XM-40C": "h100-sxm-80gb-40c",
		"L40S-48C":   "l40s-48c", "RTX6000-Ada-24C": "rtx-6000-ada-24c", "NVIDIA RTXA6000-24Q": "rtx-a6000-24c", "A16-16C": "a16-16c",
		"a40-24c": "a40-24c", "a100-pcie-80gb-20c": "a100-pcie-80gb-20c", "A100-3-20C": "a100-pcie-40gb-3g.20gb",
	} {
		d, _, err := Find(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if d.ID != want {
			t.Errorf("%s is %s, want %s", name, d.ID, want)
		}
	}
	d, notes, err := Find("T4-16C")
	if err != nil || len(notes) != 1 || notes[0].Code != "time_sliced" {
		t.Fatal(d, notes, err)
	}
	left := 16*unit.GiB - (1024+16+128)*unit.MiB
	if d.Usable.Value != left || d.Usable.Low != left-1024*unit.MiB || d.Usable.High != 16*unit.GiB {
		t.Errorf("usable %v %v %v, want %v", d.Usable.Value, d.Usable.Low, d.Usable.High, left)
	}
	if whole, _, _ := Find("t4"); d.Bandwidth != whole.Bandwidth || d.SMs != whole.SMs {
		t.Error("time slices have all of the board in turn")
	}
	if hbm, _, _ := Find("A100D-80C"); hbm.Usable.Low != hbm.Usable.Value {
		t.Error("ECC takes nothing of HBM")
	}
	for _, name := range []string{"A40-96C", "A40-0C"} {
		if _, _, err := Find(name); err == nil || !strings.Contains(err.Error(), "A40-48C") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"foo-24c", "-24c", "24c"} {
		if _, _, err := Find(name); err == nil {
			t.Errorf("%s is found", name)
		}
	}
}
