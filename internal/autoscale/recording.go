package autoscale

import (
	"fmt"

	"github.com/memwall/memwall/fault"
	"github.com/memwall/memwall/internal/record"
	"github.com/memwall/memwall/live"
	"github.com/memwall/memwall/scale"
	"github.com/memwall/memwall/unit"
)

// Minutes of a recording without a moment that are bridged by what was before; beyond them nobody knows the load.
const mostMissing = 5

// Recording reads the load that a watch recorded: tokens of answers a second of all its engines, in minutes, over the tokens of an answer.
// Requests that such a service did not take on are not in it.
func Recording(name string, answer float64) (*scale.Load, error) {
	r := &recorded{}
	if err := record.Replay(name, func(int, *live.Prediction) {}, r.add); err != nil {
		return nil, err
	}
	if len(r.minutes) == 0 {
		return nil, &fault.Error{Problem: "no engine in the recording tells its tokens per second",
			Fix: "memwall watch --record beside a running engine"}
	}
	l := &scale.Load{Part: 60}
	for _, m := range r.minutes {
		l.Rates = append(l.Rates, m.sum/float64(m.n)/answer)
	}
	return l, checked(l)
}

type minute struct {
	sum float64
	n   int
}

type recorded struct {
	minutes     []minute
	began, last float64
}

// add a moment to its minute.
func (r *recorded) add(m *live.Moment) error {
	tokens, told := 0.0, false
	for i := range m.Engines {
		if e := &m.Engines[i]; e.Reading != nil && e.OutputRate != nil && *e.OutputRate >= 0 {
			tokens, told = tokens+*e.OutputRate, true
		}
	}
	if !told {
		return nil
	}
	if len(r.minutes) == 0 {
		r.began, r.last = m.At, m.At
	}
	if m.At < r.last {
		return &fault.Error{Problem: fmt.Sprintf("the clock jumps back by %s, %s after the recording began", unit.Seconds(r.last-m.At),
			unit.Seconds(r.last-r.began)), Fix: "a recording of one run, or a table of times and rates"}
	}
	at := int((m.At - r.began) / 60)
	if missing := at - len(r.minutes); missing > mostMissing {
		return &fault.Error{Problem: fmt.Sprintf("nothing is recorded for %s, %s after it began", unit.Seconds(m.At-r.last),
			unit.Seconds(r.last-r.began)), Fix: "a recording without a gap, or a table of times and rates with what is known of it"}
	}
	for len(r.minutes) <= at {
		r.bridge()
	}
	r.last = m.At
	r.minutes[at].sum += tokens
	r.minutes[at].n++
	return nil
}

// bridge a minute: it is as the one before until a moment tells better.
func (r *recorded) bridge() {
	if n := len(r.minutes); n > 0 && r.minutes[n-1].n == 0 && n > 1 {
		r.minutes[n-1] = r.minutes[n-2]
	}
	r.minutes = append(r.minutes, minute{})
}
