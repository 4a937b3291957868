package validation

import "testing"

// TestCopies: every copy names its source and is slower than its link.
func TestCopies(t *testing.T) {
	all, err := Copies()
	if err != nil || len(all) < 7 {
		t.Fatal(len(all), err)
	}
	for _, c := range all {
		if c.Source == "" || c.Rate >= c.Link || c.Rate < c.Link/2 {
			t.Errorf("line %d: %s of %s on %s, from %q", c.Line, c.Rate, c.Link, c.Device, c.Source)
		}
	}
	for _, bad := range [][]string{{"h100"}, {"no-such-device", "1", "x"}, {"h100-sxm-80gb", "0", "x"}, {"h100-sxm-80gb", "fast", "x"}, {"m2-max", "50", "x"}} {
		if _, err := readCopy(bad); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}
