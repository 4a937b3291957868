package validation

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/memwall/memwall"
)

// TestWide: every published rate is read, all that can be scored are asked, and none is off by more than half.
func TestWide(t *testing.T) {
	_, all, err := CompareWide(&memwall.Asker{})
	if err != nil {
		t.Fatal(err)
	}
	scored := 0
	for i := range all {
		c := &all[i]
		if off := math.Abs(c.Error); c.Refused == "" {
			if scored++; off > 0.5 || c.Ours.Mid <= 0 {
				t.Errorf("line %d: ours %.0f, published %.0f", c.Row.Line, c.Ours.Mid, c.Measured.Mid)
			}
		}
		t.Logf("%-7s %-12s %-20s EP %-3d each/len %v  published %6.0f ours %6.0f  %+.0f %%  %s %s", c.Measure.Name[9:], c.Row.Ask.Model, c.Row.Ask.Hardware,
			c.Row.Ask.EP, c.Row.Ask.Context/2, c.Measured.Mid, c.Ours.Mid, 100*(c.Ours.Mid/c.Measured.Mid-1), c.Refused, c.Row.Source)
	}
	if scored < 12 {
		t.Errorf("only %d rows are scored", scored)
	}
}

// TestWideBad: a cell that is none says which.
func TestWideBad(t *testing.T) {
	good := strings.Split("decode\tdeepseek-v3\t72xh100\tsglang\tfp8-block\tbf16\t72\t32\tdeepep\tno\t256\t2050\t2785\t\tsomebody", "\t")
	if _, err := readWide(good); err != nil {
		t.Error(err)
	}
	for at, cell := range map[int]string{6: "many", 7: "-1", 10: "", 11: "1e9999", 12: "0"} {
		bad := slices.Clone(good)
		bad[at] = cell
		if _, err := readWide(bad); err == nil {
			t.Errorf("cell %d is read as %q", at, cell)
		}
	}
	if _, err := readWide(good[:14]); err == nil {
		t.Error("a row that is cut short is read")
	}
}
