package svg

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// A scale holds what it was made for, and its figures rise.
func TestScales(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		low := math.Pow(10, 12*r.Float64()-6)
		high := low * math.Pow(10, 6*r.Float64())
		for name, s := range map[string]scale{"log": logScale(low, high), "linear": linearScale(high)} {
			if s.low > low*1.002 || s.high < high*0.998 || len(s.ticks) < 2 || len(s.ticks) > 24 {
				t.Fatalf("%s from %g to %g: %+v", name, low, high, s)
			}
			for i := 1; i < len(s.ticks); i++ {
				if s.ticks[i] <= s.ticks[i-1] {
					t.Fatalf("%s: %v", name, s.ticks)
				}
			}
			if at := s.position(high); !(at > 0 && at <= 1) || s.position(low) > at {
				t.Fatalf("%s: %g at %v", name, high, at)
			}
		}
	}
	if got := fmt.Sprint(linearScale(40).ticks, logScale(3, 88).ticks); got != "[0 10 20 30 40] [2 5 10 20 50 100]" {
		t.Error(got)
	}
}
