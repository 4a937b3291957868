package simulate

import (
	"time"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/sim"
)

// mostUnserved is the default share of requests that may be rejected, fail or give up.
const mostUnserved = 0.01

// Meets reports whether a run holds its load, every percentile is within its bound, nearly all requests are served, and enough of
// them are within all bounds.
func Meets(r *sim.Result, goal *api.Goal) bool {
	if unserved := float64(r.Failed + r.Refused + r.HungUp); unserved > mostUnserved*float64(r.Asked) && goal.Attainment == 0 {
		return false
	}
	if r.Finished == 0 || r.Stopped || !LoadOf(r).Holds || !Within(&r.First, goal.TTFT) || !Within(&r.PerToken, goal.TPOT) {
		return false
	}
	return goal.Attainment == 0 || float64(r.Good) >= goal.Attainment*float64(max(1, r.First.N()+r.Failed+r.Refused+r.HungUp))
}

// GiveUp ends a run as soon as more requests have exceeded a bound than its percentile allows.
func GiveUp(s *Simulation, goal *api.Goal) {
	judged := float64(s.Spec.Requests) - float64(s.Settling)
	if s.Spec.Trace != "" || judged <= 0 || s.Spec.DurationS > 0 || len(goal.TTFT)+len(goal.TPOT) == 0 {
		return
	}
	var late []lateness
	for _, b := range []struct {
		by    map[string]float64
		token bool
	}{{goal.TTFT, false}, {goal.TPOT, true}} {
		for name, ms := range b.by {
			if q, err := api.Percentile(name); err == nil {
				late = append(late, lateness{bound: ms, token: b.token, left: (1-q)*judged + 1})
			}
		}
	}
	over := false
	s.Hopeless = func() bool { return over }
	s.EachRequest = func(d *sim.Done) {
		if d.Outcome != sim.Finished || d.ID < s.Settling {
			return
		}
		for i := range late {
			over = late[i].exceeds(d) || over
		}
	}
}

// lateness counts down the requests that may still be late.
type lateness struct {
	bound float64 // milliseconds
	token bool
	left  float64
}

// exceeds counts a request and reports whether too many have been late.
func (l *lateness) exceeds(d *sim.Done) bool {
	t := d.First - d.Arrival
	if l.token {
		if d.Generated < 2 {
			return l.left < 0
		}
		t = (d.End - d.First) / time.Duration(d.Generated-1)
	}
	if 1000*t.Seconds() > l.bound {
		l.left--
	}
	return l.left < 0
}
