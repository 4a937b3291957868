package workload

import (
	"math"
	"time"
)

// arrivals generates the start times of sessions that begin independently.
type arrivals struct {
	gap     sampler // nanoseconds
	spaced  bool    // spaced by gaps, otherwise all at once
	closed  bool
	clients uint64 // number that begin independently
	chance  stream
	now     time.Duration
	last    time.Duration // end of arrivals
}

func (s *Spec) arrivals(seed uint64) arrivals {
	a := arrivals{clients: math.MaxUint64, chance: newStream(seed, "arrivals"), last: seconds(MaxSeconds)}
	if s.DurationS > 0 {
		a.last = seconds(s.DurationS)
	}
	switch s.Arrivals {
	case "closed":
		a.closed, a.clients = true, uint64(s.Concurrency)
	case "poisson":
		a.spaced, a.gap = true, (&Law{Law: "exponential", Mean: 1e9 / s.Rate}).sampler(false)
	case "gamma":
		a.spaced, a.gap = true, (&Law{Law: "gamma", Mean: 1e9 / s.Rate, CV: *s.CV}).sampler(false)
	}
	return a
}

// draw advances to the next independent session start; false if there is none. Gaps are rounded to nanoseconds before
// they are added, so that sums are exact.
func (a *arrivals) draw(session uint64) bool {
	if session >= a.clients {
		return false
	}
	if a.spaced {
		a.chance.seek(session, 0)
		a.now += time.Duration(min(a.gap.draw(&a.chance), 2*MaxSeconds*1e9) + 0.5)
	}
	return a.now <= a.last
}
