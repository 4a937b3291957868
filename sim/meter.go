package sim

import "time"

// Result of a run.
type Result struct {
	Asked, Finished, Failed, Refused, HungUp int64
	Preemptions, Preempted                   int64 // times, and requests
	// First token after arrival, time per further token, gaps between tokens (without the pauses of preemptions, which are
	// in the time per token), from arrival to the end, and the wait until a request was first computed.
	First, PerToken, Gap, Whole, Wait Sample
	Prompt, Cached, Generated         int64   // tokens of admitted prompts, of them found cached, and generated
	FromTiers                         perTier // tokens of those cached that each tier brought back, and the store
	Good                              int64   // requests that met the goal
	Settled                           int64   // requests that went first and are in none of the times, nor in Good
	Began, End                        time.Duration
	Series                            Series
	KV                                KV
	// Busy is the time that servers computed, Prompting what prompts added to it.
	Busy, Prompting time.Duration
	// Waiting is for how long requests waited for each limit, in requests times time.
	Waiting [5]time.Duration
	Steps   int64
	Queue   Queue
	Stopped bool
}

// KV is the use of caches: shares of all their room, over the time that servers computed.
type KV struct {
	Peak, Mean float64
	// Waste: places in the last rows of sequences, or beyond the longest that they become, that never hold a token
	// (internal); places that will be used later but are taken already (reserved); free places that nobody can use
	// though somebody waits for room (external).
	Internal, Reserved, External float64
}

// Queue tells how the number of those who wait went while requests arrived.
type Queue struct {
	Peak, AtEnd int64
	// Since is when it was last empty before the last arrival.
	Since, LastArrival time.Duration
	// arrivals, when the last of them set out, and how many waited at the last two powers of two of them.
	arrivals     int64
	out          time.Duration
	half, recent int64
}

// meter takes notes.
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

// kvSums are shares of a cache times time.
type kvSums struct{ used, internal, reserved, external float64 }

func newMeter(f *Fleet, o *Options) *meter {
	return &meter{opt: o, replicas: float64(len(f.Replicas))}
}

// begun notes a step.
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

// gaps between the tokens of those who decode: the first repetition of a step comes after whatever was computed since the
// last token, for who had one.
func (m *meter) gaps(s *server, st *step) {
	d := st.batch.Decodes
	if d == 0 || m.opt.NoGaps {
		return
	}
	fresh := min(d, s.fresh)
	m.Gap.add(st.start+st.each-s.token, d-fresh)
	m.Gap.add(st.each, fresh+d*(st.n-1))
	s.token, s.fresh = st.end, 0
}

// room notes the use of a cache: what decoders take is half taken on average.
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

// admitted notes the first admission of a request.
func (m *meter) admitted(t *slot, cached, rowTokens int64, stored perTier) {
	m.waited(t.ID, t.admitted-t.Arrival)
	m.Prompt += t.Prompt
	m.Cached += cached
	for i, rows := range stored {
		m.FromTiers[i] += rows * rowTokens
	}
}

// over notes the end of a request.
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

// result of a run that is over.
func (m *meter) result() *Result {
	r := &m.Result
	r.Asked, r.Preemptions, r.Stopped = m.asked, m.preempted, m.stopped
	m.settle()
	if busy := m.Busy.Seconds(); busy > 0 {
		r.KV.Mean, r.KV.Internal, r.KV.Reserved, r.KV.External = m.kv.used/busy, m.kv.internal/busy, m.kv.reserved/busy, m.kv.external/busy
	}
	return r
}

// arrived notes the queue when a request comes that set out at a time.
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

// finePoints of a series tell how a queue went.
const finePoints = 16

// Diverges reports whether the queue grew for as long as requests arrived, and since when: it was not empty for more than
// the second half of that time, and at the end longer than halfway through. Where all came at once, as the users of a
// closed loop do, none grows.
func (r *Result) Diverges() (since time.Duration, grows bool) {
	q := &r.Queue
	if q.out <= r.Began {
		return q.Since, false
	}
	span := q.LastArrival - r.Began
	if late := q.LastArrival-q.Since > span/2 && q.AtEnd > 1; !late {
		return q.Since, false
	}
	if span < finePoints*r.Series.Width { // all came before much was computed
		return q.Since, q.AtEnd > 2*q.half+1
	}
	return q.Since, r.Series.grows(r.Began, q.LastArrival)
}
