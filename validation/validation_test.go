package validation

import (
	"testing"

	"github.com/memwall/memwall"
)

func TestScores(t *testing.T) {
	sets, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	all := Compare(&memwall.Asker{}, sets)
	for _, s := range Scores(all, nil) {
		t.Logf("%-34s given %4d used %4d equal %4d inside %4d median %.4f p90 %.4f max %.4f bias %+.4f width %.3f met %v", s.Measure.Name, s.Given, s.Used, s.Equal, s.Inside, s.Median, s.P90, s.Max, s.Bias, s.Width, s.Met())
		for i, c := range s.Worst {
			if i < 6 && !c.Equal {
				t.Logf("      %s %s %s measured %s ours %.6g..%.6g..%.6g err %.4f", c.Row.Name(), c.Row.Ask.Model, c.Figure, c.Measured.Text, c.Ours.Low, c.Ours.Mid, c.Ours.High, c.Error)
			}
		}
		for r, n := range s.Refused {
			t.Logf("      refused %d: %s", n, r)
		}
	}
}
