package train

import "testing"

// TestInFlight against the published counts: arXiv:2104.04473 (1F1B, interleaved), arXiv:1811.06965 (GPipe).
func TestInFlight(t *testing.T) {
	for _, c := range []struct {
		schedule                     string
		stage, stages, chunks, micro int64
		want                         float64
	}{
		{"1f1b", 0, 4, 1, 64, 4}, {"1f1b", 3, 4, 1, 64, 1}, {"1f1b", 0, 4, 1, 2, 2}, {"gpipe", 0, 4, 1, 64, 64},
		{"interleaved", 0, 4, 8, 64, (6 + 28 + 1) / 8.0}, {"interleaved", 3, 4, 8, 64, 29 / 8.0},
		{"zb-h1", 0, 4, 1, 64, 4}, {"zb-h2", 0, 4, 1, 64, 7}, {"zbv", 3, 4, 2, 64, 4}, {"1f1b", 0, 1, 1, 64, 1},
	} {
		if got := inFlight(c.schedule, c.stage, c.stages, c.chunks, c.micro); got != c.want {
			t.Errorf("%s, stage %d of %d, %d chunks, %d micro-batches: %g, want %g", c.schedule, c.stage, c.stages, c.chunks, c.micro, got, c.want)
		}
	}
}
