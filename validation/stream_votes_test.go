package validation

import (
	"testing"

	"github.com/memwall/memwall"
)

// TestStreamVotes: of reports that were left out, each with one vote, single streams are off by no more than this, and their bands
// hold what they promise.
func TestStreamVotes(t *testing.T) {
	_, all, err := CompareStreams(&memwall.Asker{})
	if err != nil {
		t.Fatal(err)
	}
	most := map[*Measure][2]float64{&decodeReports: {0.10, 0.45}, &promptReports: {0.11, 0.50}}
	found := 0
	for _, v := range StreamVotes(all) {
		if v.Group != "" {
			continue
		}
		found++
		m := most[v.Measure]
		t.Logf("%s: %d reports: %.1f / %.1f %%, cover %.0f", v.Measure.Name, v.Makers, 100*v.Sources.Median, 100*v.Sources.P90, 100*v.Sources.Cover)
		if v.Sources.Median > m[0] || v.Sources.P90 > m[1] || v.Sources.Cover < 0.86 || v.Sources.Cover > 0.95 {
			t.Errorf("%s: of %d reports the median error is %.3f, p90 %.3f, cover %.3f", v.Measure.Name, v.Makers, v.Sources.Median, v.Sources.P90, v.Sources.Cover)
		}
	}
	if found != len(most) {
		t.Errorf("%d figures have votes", found)
	}
}
