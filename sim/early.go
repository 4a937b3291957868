package sim

import "time"

// times of a served request.
type times struct {
	first, whole, perToken time.Duration
	further                bool // generated more than one token
}

// early holds the times of the first requests. How many of them count is only known at the end: those beyond a quarter
// of all.
type early struct {
	waits []numbered[time.Duration]
	times []numbered[times]
}

type numbered[T any] struct {
	id int64
	of T
}

// waited records how long a request waited until it was first computed.
func (m *meter) waited(id int64, t time.Duration) {
	if id < m.opt.Settle {
		m.early.waits = append(m.early.waits, numbered[time.Duration]{id, t})
		return
	}
	m.Wait.add(t, 1)
}

// served records the times of a request.
func (m *meter) served(id int64, t times) {
	if id < m.opt.Settle {
		m.early.times = append(m.early.times, numbered[times]{id, t})
		return
	}
	m.count(t)
}

// settle counts those of the first requests that exceed a quarter of all.
func (m *meter) settle() {
	m.Settled = min(m.opt.Settle, m.asked/4)
	for _, w := range m.early.waits {
		if w.id >= m.Settled {
			m.Wait.add(w.of, 1)
		}
	}
	for _, t := range m.early.times {
		if t.id >= m.Settled {
			m.count(t.of)
		}
	}
}

// count adds a request to the latencies and judges it by the goal.
func (m *meter) count(t times) {
	m.First.add(t.first, 1)
	m.Whole.add(t.whole, 1)
	if t.further {
		m.PerToken.add(t.perToken, 1)
	}
	if m.opt.Goal.met(t.first, t.perToken) {
		m.Good++
	}
}
