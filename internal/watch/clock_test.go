package watch

import (
	"testing"
	"time"
)

// TestClockSetBack: dates of moments never go back, go on at their pace after the clock was set back, and follow the
// machine's clock otherwise, set forward or asleep.
func TestClockSetBack(t *testing.T) {
	var c clock
	for i, step := range []struct{ machine, want float64 }{
		{1000, 1000}, {1002, 1002},
		{502, 1002}, {504, 1004}, {506, 1006}, // set back by 500 s
		{7, 1006}, {9, 1008}, // and again
		{90009, 91008}, // asleep for a day
	} {
		if got := c.at(time.UnixMilli(int64(step.machine * 1000))); got != step.want {
			t.Errorf("moment %d: at %g s, not %g", i, got, step.want)
		}
	}
}
