package workload

import (
	"math"
	"time"
)

// arrivals are when sessions begin by themselves.
type arrivals struct {
	gap     sampler // nanoseconds
	spaced  bool    // gaps, else all come at once
	closed  bool
	clients uint64 // how many begin by themselves
	chance  stream
	now     time.Duration
}

func (s *Spec) arrivals(seed uint64) arrivals {
	a := arrivals{clients: math.MaxUint64, chance: newStream(seed, "arrivals")}
	switch s.Arrivals {
	case "closed":
		a.closed, a.clients = true, uint64(s.Concurrency)
	case "burst":
	default:
		a.spaced = true
		law := Law{Law: "exponential", Mean: 1e9 / s.Rate}
		if s.Arrivals == "gamma" {
			law.Law, law.CV = "gamma", *s.CV
		}
		a.gap = law.sampler(false)
	}
	return a
}

// comes moves on to when the next session begins by itself; false when none does. Gaps are whole nanoseconds before they
// are added up, so that their sum is exact.
func (a *arrivals) comes(session uint64) bool {
	if session >= a.clients {
		return false
	}
	if a.spaced {
		a.chance.at(session, 0)
		a.now += time.Duration(math.Floor(min(a.gap.draw(&a.chance), 1e18) + 0.5))
	}
	return a.now >= 0
}
