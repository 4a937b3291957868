package coef

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

func TestVotesInterval(t *testing.T) {
	var v Votes
	for i := range 39 {
		v.Add(fmt.Sprint(i), float64(i))
	}
	if low, high := v.Interval(0.9, ""); low != 1 || high != 37 {
		t.Errorf("of 39 sources two votes of 40 lie at either end: %g to %g, want 1 to 37", low, high)
	}
	for range 100 {
		v.Add("loud", 1000)
	}
	if low, high := v.Interval(0.9, ""); low != 1 || high != 38 {
		t.Errorf("a source with many errors has one vote: %g to %g, want 1 to 38", low, high)
	}
	if _, high := v.Interval(0.9, "loud"); high != 37 {
		t.Errorf("without the loud source the edge is %g, want 37", high)
	}
	if low, high := new(Votes).Interval(0.9, ""); !math.IsNaN(low) || !math.IsNaN(high) {
		t.Errorf("no source has no interval: %g to %g", low, high)
	}
}

// TestVotesHold: of sources whose errors are drawn alike, the interval holds about what it says of the next one.
func TestVotesHold(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	held, rounds := 0, 2000
	for range rounds {
		var v Votes
		for i := range 30 {
			v.Add(strconv.Itoa(i), r.NormFloat64())
		}
		low, high := v.Interval(0.9, "")
		if e := r.NormFloat64(); low <= e && e <= high {
			held++
		}
	}
	if share := float64(held) / float64(rounds); share < 0.89 || share > 0.95 {
		t.Errorf("%.3f of further sources lie in intervals of 0.9", share)
	}
}
