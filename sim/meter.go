package sim

import (
	"slices"
	"time"
)

// Result is the outcome of a run.
type Result struct {
	Asked, Finished, Failed, Refused, HungUp int64
	Preemptions, Preempted                   int64 // number of events, and of requests affected
	// First is the time from arrival to the first token, PerToken the time per further token, Gap the time between
	// tokens (excluding preemptions, which PerToken includes), Whole the time from arrival to the end, and Wait the time
	// until a request was first computed.
	First, PerToken, Gap, Whole, Wait Sample
	Prompt, Cached, Generated         int64   // tokens: of admitted prompts, found cached, and generated
	FromTiers                         perTier // cached tokens loaded from each tier and from the store
	Good                              int64   // requests that met the goal
	Settled                           int64   // warm-up requests, in neither latencies nor Good
	Began, End                        time.Duration
	Series                            Series
	KV                                KV
	// Busy is the total compute time of servers; Prompting is the part added by prompts.
	Busy, Prompting time.Duration
	// Waiting is how long requests waited for each limit, in request-time.
	Waiting [5]time.Duration
	Steps   int64
	Queue   Queue
	Stopped bool
}

// KV is the use of caches, as shares of their total space over the compute time of servers.
type KV struct {
	Peak, Mean float64
	// Kinds of waste: places never filled, in last rows or beyond a sequence's final length (Internal); places allocated
	// but not filled yet (Reserved); free places that cannot be used although a request waits for space (External).
	Internal, Reserved, External float64
}

// Queue describes the length of the queue while requests arrived.
type Queue struct {
	Peak, AtEnd int64
	// Since is when it was last empty before the last arrival.
	Since, LastArrival time.Duration
	// Number of arrivals, when the last was sent, and how many waited at the last two powers of two.
	arrivals     int64
	out          time.Duration
	half, recent int64
}

// meter records statistics.
type meter struct {
	Result
	opt       *Options
	now       time.Duration
	asked     int64
	over_     int64
	preempted int64
	stopped   bool
	fault     error
	early     early
	replicas  float64
	kv        kvSums
	begunAny  bool
}

// kvSums are cache shares multiplied by time.
type kvSums struct{ used, internal, reserved, external float64 }

func newMeter(f *Fleet, o *Options) *meter {
	return &meter{opt: o, replicas: float64(len(f.Replicas))}
}

// begun records a step.
func (m *meter) begun(s *server, st *step) {
	took := st.end - st.start
	m.Steps += st.n
	m.Busy += took
	m.Prompting += time.Duration(st.n) * st.prompting
	if s.waiting.n > 0 {
		m.Waiting[s.why] += time.Duration(s.waiting.n) * took
	}
	m.gaps(s, st)
	used := m.room(s, st, took)
	if m.opt.Step != nil {
		m.opt.Step(&Step{s.index, st.start, st.end, st.n, st.batch, int64(s.waiting.n), s.running.n, used})
	}
	m.Series.add(st.start, st.end, Point{Running: float64(s.running.n), KV: used / m.replicas, Tokens: float64(st.tokens * st.n)})
}

// queued notes who has waited up to now, before their number changes: within a step too, which some come in the midst of.
func (m *meter) queued(s *server, now time.Duration) {
	if n := s.waiting.n; n > 0 && now > s.counted {
		m.Series.add(s.counted, now, Point{Waiting: float64(n)})
	}
	s.counted = max(s.counted, now)
}

// gaps records the gaps between tokens: the first repetition of a step follows whatever was computed since the last
// token.
func (m *meter) gaps(s *server, st *step) {
	if m.opt.NoGaps {
		s.joined = s.joined[:0]
		return
	}
	if d := st.batch.Decodes; d > 0 {
		m.Gap.add(st.start+st.each-s.token, d-m.firstGaps(s, st))
		m.Gap.add(st.each, d*(st.n-1))
		s.token = st.end
	}
	for i := range s.joined {
		if s.joined[i].token == composed {
			s.joined[i].token = st.end
		}
	}
}

// firstGaps records the gaps before the second tokens, and counts them.
func (m *meter) firstGaps(s *server, st *step) (n int64) {
	s.joined = slices.DeleteFunc(s.joined, func(j joining) bool {
		switch j.token {
		case composed:
			return false // its first token comes with this step
		case received:
			m.Gap.add(st.each, 1)
		default:
			m.Gap.add(st.start+st.each-j.token, 1)
		}
		n++
		return true
	})
	return n
}

// room records the use of a cache, counting what decoding sequences allocate in the step at half on average.
func (m *meter) room(s *server, st *step, took time.Duration) (used float64) {
	whole, t := float64(s.Blocks), took.Seconds()
	used = float64(s.Blocks-s.pool.free) / whole
	m.KV.Peak = max(m.KV.Peak, used)
	m.kv.used += (used - float64(st.blocks)/2/whole) * t
	w := s.waste()
	m.kv.internal += float64(w.internal) / whole * t
	m.kv.reserved += float64(w.reserved) / whole * t
	m.kv.external += float64(w.external) / whole * t
	return used
}

// admitted records the first admission of a request.
func (m *meter) admitted(t *slot, cached, rowTokens int64, stored perTier) {
	m.waited(t.ID, t.admitted-t.Arrival)
	m.Prompt += t.Prompt
	m.Cached += cached
	for i, rows := range stored {
		m.FromTiers[i] += rows * rowTokens
	}
}

// over records the end of a request.
func (m *meter) over(d *Done) {
	m.over_++
	m.ended(d.Outcome)
	m.Generated += d.Generated
	m.End = max(m.End, d.End)
	if !m.begunAny || d.Arrival < m.Began {
		m.begunAny, m.Began = true, d.Arrival
	}
	if d.Preempted > 0 {
		m.Preempted++
	}
	if d.Outcome != Finished {
		return
	}
	t := times{d.First - d.Arrival, d.End - d.Arrival, 0, d.Generated > 1}
	if t.further {
		t.perToken = (d.End - d.First) / time.Duration(d.Generated-1)
	}
	m.served(d.ID, t)
}

func (m *meter) ended(how Outcome) {
	switch how {
	case Finished:
		m.Finished++
	case Failed:
		m.Failed++
	case Refused:
		m.Refused++
	case HungUp:
		m.HungUp++
	}
}

func (g Goal) met(first, perToken time.Duration) bool {
	return (g.First == 0 || first <= g.First) && (g.PerToken == 0 || perToken <= g.PerToken)
}

// result returns the result of a finished run.
func (m *meter) result() *Result {
	r := &m.Result
	r.Asked, r.Preemptions, r.Stopped = m.asked, m.preempted, m.stopped
	m.settle()
	if busy := m.Busy.Seconds(); busy > 0 {
		r.KV.Mean, r.KV.Internal, r.KV.Reserved, r.KV.External = m.kv.used/busy, m.kv.internal/busy, m.kv.reserved/busy, m.kv.external/busy
	}
	return r
}

// arrived records the queue at the arrival of a request that was sent at a time.
func (q *Queue) arrived(waiting int64, out, at time.Duration) {
	q.LastArrival, q.out = at, max(q.out, out)
	if waiting == 0 {
		q.Since = at
	}
	q.Peak, q.AtEnd = max(q.Peak, waiting), waiting
	if q.arrivals++; q.arrivals&(q.arrivals-1) == 0 {
		q.half, q.recent = q.recent, waiting
	}
}

// finePoints is the number of points of a series needed to judge a queue.
const finePoints = 16

// Diverges reports whether the queue kept growing while requests arrived, and since when: it was never empty in the
// second half of that time, and longer at the end than halfway. If all requests arrive at once, as the users of a
// closed loop do, it does not grow.
func (r *Result) Diverges() (since time.Duration, grows bool) {
	q := &r.Queue
	if q.out <= r.Began {
		return q.Since, false
	}
	span := q.LastArrival - r.Began
	if late := q.LastArrival-q.Since > span/2 && q.AtEnd > 1; !late {
		return q.Since, false
	}
	if span < finePoints*r.Series.Width { // all arrived before much was computed
		return q.Since, q.AtEnd > 2*q.half+1
	}
	return q.Since, r.Series.grows(r.Began, q.LastArrival)
}
