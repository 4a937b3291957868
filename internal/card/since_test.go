package card

import "testing"

// TestModelsSince: a bound leaves what is of its time, the newest first, and what is not a month is refused.
func TestModelsSince(t *testing.T) {
	all, err := ModelsSince("", "")
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	for _, r := range all {
		if r.Released >= "2026-06" {
			want++
		}
	}
	rows, err := ModelsSince("", "2026-06")
	if err != nil || len(rows) != want || want == 0 || want == len(all) {
		t.Fatalf("%d of %d models, want %d: %v", len(rows), len(all), want, err)
	}
	for i, r := range rows {
		if r.Released < "2026-06" || i > 0 && r.Released > rows[i-1].Released {
			t.Errorf("%s of %q stands at %d", r.ID, r.Released, i)
		}
	}
	for _, bad := range []string{"June", "2026-13", "2026-6", "20", "-1", "2026-06-01"} {
		if _, err := ModelsSince("", bad); err == nil {
			t.Errorf("%q is taken for a month", bad)
		}
	}
}
