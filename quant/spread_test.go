package quant

import (
	"math"
	"testing"
)

// TestSpread: normal numbers lie in the bins of normal numbers, and a heavy tail is named as an outlier.
func TestSpread(t *testing.T) {
	var all []*Measured
	for _, x := range []*Tensor{brain("normal", normal(1<<18, 1), 1, 256, 1024), brain("other", normal(1<<18, 2), 1, 256, 1024)} {
		m, err := (&Work{}).Measure(x)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	s := SpreadOf(all)
	for i, share := range s.Magnitudes {
		if s.Normal[i] > 0.01 && math.Abs(share/s.Normal[i]-1) > 0.25 {
			t.Errorf("bin %d holds %.4f, normal numbers %.4f", i, share, s.Normal[i])
		}
	}
	if len(s.Outliers) != 0 {
		t.Errorf("outliers of normal numbers: %+v", s.Outliers)
	}
	m, err := (&Work{}).Measure(brain("heavy", heavy(1<<18, 2), 1, 256, 1024))
	if err != nil {
		t.Fatal(err)
	}
	if s = SpreadOf(append(all, m)); len(s.Outliers) != 1 || s.Outliers[0].Tensor != "heavy" || s.Outliers[0].Largest < 6 {
		t.Errorf("%+v", s.Outliers)
	}
}
