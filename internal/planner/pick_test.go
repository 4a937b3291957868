package planner

import (
	"slices"
	"testing"

	"github.com/memwall/memwall/api"
)

// TestHeadings: the fastest and the longest are near the best, and of picks about as fast the better one is marked.
func TestHeadings(t *testing.T) {
	pick := func(points, rate float64, length int64) api.Pick {
		return api.Pick{Score: &api.PickScore{Value: points}, Speed: &api.Speed{Decode: &rate}, MaxContext: &length}
	}
	for name, c := range map[string]struct {
		picks []api.Pick
		want  [][]string
	}{
		"a weak model is not the fastest": {[]api.Pick{pick(43, 60, 32), pick(32, 38, 97), pick(27, 90, 218)},
			[][]string{{"best", "fastest"}, {"longest"}, nil}},
		"a tenth is no reason": {[]api.Pick{pick(50, 17, 80), pick(43, 73, 104), pick(36, 74, 109)},
			[][]string{{"best"}, {"fastest", "longest"}, nil}},
		"error rates": {[]api.Pick{pick(-5, 10, 9), pick(-6, 30, 9), pick(-9, 50, 9)},
			[][]string{{"best", "longest"}, {"fastest"}, nil}},
	} {
		headings(c.picks)
		for i := range c.picks {
			if !slices.Equal(c.picks[i].First, c.want[i]) {
				t.Errorf("%s: pick %d is %v, want %v", name, i, c.picks[i].First, c.want[i])
			}
		}
	}
}
