package speed_test

import (
	"math"
	"testing"

	"github.com/memwall/memwall/speed"
)

// TestMovesHideBehindCompute: a copy that is shorter than the arithmetic costs nothing, a longer one what is left.
func TestMovesHideBehindCompute(t *testing.T) {
	share := speed.Figure{Mid: 0.8, Low: 0.7, High: 0.9}
	m := []speed.Move{{Name: "weights", Bytes: 64e9, Rate: 32e9}} // 2.5 s at 80 %
	if got := m[0].Seconds(share); math.Abs(got.Mid-2.5) > 1e-9 || !(got.Low < got.Mid && got.Mid < got.High) {
		t.Errorf("64 GB over 32 GB/s take %+v s", got)
	}
	for _, c := range []struct{ compute, want float64 }{{0, 2.5}, {1, 1.5}, {3, 0}} {
		got := speed.Exposed(speed.Figure{Mid: c.compute, Low: c.compute, High: c.compute}, m, share)
		if math.Abs(got.Mid-c.want) > 1e-9 || got.Low > got.Mid || got.Mid > got.High {
			t.Errorf("beside %g s of arithmetic %+v show, want %g", c.compute, got, c.want)
		}
	}
}

// TestLinkShare: links lose something to packets and nothing else takes half of them.
func TestLinkShare(t *testing.T) {
	s, err := speed.LinkShare()
	if err != nil || !(0.5 < s.Low && s.Low < s.Mid && s.Mid < s.High && s.High < 1) {
		t.Errorf("%+v %v", s, err)
	}
}
