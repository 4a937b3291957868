package validation

import "testing"

// TestLoads: every run is simulated, and logs whose own steps are known agree as far as the scheduler decides.
func TestLoads(t *testing.T) {
	_, all, err := CompareLoads()
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		c := &all[i]
		t.Logf("%-34s %-12s %s: %.4g, measured %.4g, %+.1f %% %s", c.Measure.Name, c.Figure, c.Row.Name(), c.Ours.Mid, c.Measured.Mid, 100*c.Error, c.Refused)
	}
}
