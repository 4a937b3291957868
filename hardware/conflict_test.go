package hardware

import (
	"math"
	"testing"
)

// TestConflicts: every row of conflicts.tsv is of a figure that its device has, with a source on record, and differs from it.
func TestConflicts(t *testing.T) {
	n := 0
	for r := range conflicts.rows() {
		d, _, err := Find(r.id())
		if err != nil {
			t.Fatal(err)
		}
		c, err := readConflict(r, d)
		if err != nil {
			t.Errorf("%s: %v", d.ID, err)
			continue
		}
		if _, ok := Cite(c.Theirs.Source); !ok {
			t.Errorf("%s %s: no source %q", d.ID, c.Figure, c.Theirs.Source)
		}
		if c.Ours.Source == c.Theirs.Source {
			t.Errorf("%s %s: %s says both", d.ID, c.Figure, c.Ours.Source)
		}
		if math.Abs(c.Ours.Value/c.Theirs.Value-1) < 0.002 {
			t.Errorf("%s %s: both say %g", d.ID, c.Figure, c.Ours.Value)
		}
		n++
	}
	d, _, err := Find("b200-sxm-180gb")
	if err != nil {
		t.Fatal(err)
	}
	if got := Conflicts(d); n < 15 || len(got) != 2 || got[1].Ours.Value != 8e12 || got[1].Theirs.Value != 7.7e12 {
		t.Errorf("%d rows; of the B200 %+v", n, got)
	}
}
