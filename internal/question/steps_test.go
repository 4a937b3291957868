package question

import (
	"slices"
	"testing"
)

// TestSteps: the context asked for is always among them, none beyond what was trained unless asked for.
func TestSteps(t *testing.T) {
	for _, c := range []struct {
		context, trained int64
		want             []int64
	}{
		{8192, 131072, []int64{8192, 16384, 32768}}, {8192, 0, []int64{8192, 16384, 32768}}, {8192, 16384, []int64{4096, 8192, 16384}},
		{8192, 8192, []int64{2048, 4096, 8192}}, {448, 448, []int64{112, 224, 448}}, {200000, 131072, []int64{50000, 100000, 200000}},
		{8192, 20000, []int64{4096, 8192, 16384}}, {1, 1, []int64{1}}, {3, 3, []int64{1, 3}}, {8191, 16384, []int64{4095, 8191, 16382}},
		{searchContext, 0, []int64{searchContext / 4, searchContext / 2, searchContext}},
	} {
		if got := steps(c.context, c.trained); !slices.Equal(got, c.want) || !slices.Contains(got, c.context) {
			t.Errorf("%d of %d: %v, want %v", c.context, c.trained, got, c.want)
		}
	}
}
