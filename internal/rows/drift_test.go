package rows_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/memwall/memwall/internal/rows"
)

// ran is a row of one version, of an output of so many tokens a second at a number of users.
func ran(t *testing.T, version, day string, users int, rate float64) rows.Kept {
	t.Helper()
	text := strings.NewReplacer("vllm@0.12.0", "vllm@"+version, "2026-11-27", day, `{"name":"Model loading took","device":"DP0","unit":"GiB","measured":15,"predicted":14.99}`,
		fmt.Sprintf(`{"name":"output","unit":"tokens/s","test":"output","prompt":512,"answer":128,"users":%d,"measured":%g,"predicted":100}`, users, rate)).Replace(line)
	r := read(t, text)[0]
	return rows.Kept{ID: r.ID(), Who: "ann", Row: r}
}

// TestDrift: versions stand in their order, whatever order rows came in; a version moved a figure where all loads moved alike, and not
// where they went apart, or by little; loads that one version alone ran are not compared.
func TestDrift(t *testing.T) {
	for _, c := range []struct {
		name   string
		rates  [3]float64 // of the second version, at 1, 4 and 16 users
		before float64
		moved  bool
	}{
		{"alike", [3]float64{130, 131, 129}, 1.3, true},
		{"slower", [3]float64{80, 81, 80}, 0.8, true},
		{"apart", [3]float64{90, 130, 170}, 1.3, false},
		{"little", [3]float64{103, 104, 103}, 1.03, false},
	} {
		var kept []rows.Kept
		for i, rate := range c.rates {
			kept = append(kept, ran(t, "0.10.0", "2026-07-01", []int{1, 4, 16}[i], rate), ran(t, "0.9.2", "2026-08-01", []int{1, 4, 16}[i], 100))
		}
		kept = append(kept, ran(t, "0.10.0", "2026-07-01", 64, 500), rows.Kept{ID: "x", Why: "is of a newer memwall"})
		d := rows.NewDrift("team.db", kept)
		if len(d.Series) != 1 || len(d.Series[0].Versions) != 2 || d.Rows != 7 || len(d.Aside) != 1 {
			t.Fatalf("%s: %+v", c.name, d)
		}
		old, now := d.Series[0].Versions[0], d.Series[0].Versions[1]
		if old.Version != "0.9.2" || now.Version != "0.10.0" || old.Before != nil || *old.Ratio != 1 || now.Figures != 4 || now.Pairs != 3 || now.Last != "2026-07-01" {
			t.Errorf("%s: %+v, then %+v", c.name, old, now)
		}
		if x := *now.Before / c.before; x < 0.995 || x > 1.005 || now.Moved != c.moved {
			t.Errorf("%s: × %g, moved %v", c.name, *now.Before, now.Moved)
		}
	}
}

// TestVersionsInOrder: builds by their number, and what has none by its first day.
func TestVersionsInOrder(t *testing.T) {
	var kept []rows.Kept
	for _, v := range [][2]string{{"b10000", "2026-01-01"}, {"b9999", "2026-02-01"}, {"6a94163", "2026-05-01"}, {"fffffff", "2026-03-01"}, {"0.9", "2026-01-01"}} {
		kept = append(kept, ran(t, v[0], v[1], 1, 100))
	}
	var got []string
	for _, v := range rows.NewDrift("", kept).Series[0].Versions {
		got = append(got, v.Version)
	}
	if s := strings.Join(got, " "); s != "0.9 b9999 b10000 fffffff 6a94163" {
		t.Error(s)
	}
}

// TestHistory: the newest first, with who and when; RanBy takes a version for those that begin with it.
func TestHistory(t *testing.T) {
	a, b := ran(t, "0.12.0", "2026-07-01", 1, 100), ran(t, "0.13.0", "2026-07-02", 1, 100)
	b.Who, b.Added = "bob", "2026-11-28T11:00:00Z"
	h := rows.NewHistory("team.db", []rows.Kept{a, b})
	if h.Rows != 2 || strings.Join(h.People, " ") != "ann bob" || h.Entries[0].Who != "bob" || h.Entries[0].Engine != "vllm@0.13.0" || h.Entries[0].Figures != 1 {
		t.Errorf("%+v", h)
	}
	for named, want := range map[string]bool{"vllm": true, "vllm@0.13": true, "vllm@0.13.0": true, "vllm@0.1": false, "vllm@0.12": false, "sglang": false} {
		if got := b.Row.RanBy(named); got != want {
			t.Errorf("%s: %v", named, got)
		}
	}
}
