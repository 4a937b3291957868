package sim

import "time"

// Static batches whole sequences: a batch takes the requests waiting at its start, pads their prompts to the longest,
// and admits none before the last has ended. Space for all answers is reserved at the start. Steps take the time of the
// full batch until the end.
var Static Policy = static{}

type static struct{}

// batch is a static batch.
type batch struct {
	n       int64 // sequences at the start
	longest int64 // prompt
	born    int64 // start tick
}

func (static) compose(s *server, st *step, now, start time.Duration) bool {
	if s.dec.n > 0 {
		st.batch = s.going()
		s.timed(st)
		s.decode(st, s.stretch(st, now, start))
		return true
	}
	if s.running.n > 0 {
		return false
	}
	s.gather(st, now)
	return st.batch.Prefill > 0
}

// gather forms a batch of waiting requests and computes their prompts.
func (s *server) gather(st *step, now time.Duration) {
	s.why = 0
	var longest int64
	for i := s.upNext(); i >= 0; i = s.upNext() {
		t := &s.slots.all[s.waiting.at(i)]
		budget := t.goal
		e, ok := s.entry(t, budget)
		e.stored, e.piece = perTier{}, t.goal-e.hits*s.BlockTokens // never chunked or deferred
		if ok && !s.ends(t, e) {
			s.why, ok = Room, false
		}
		if !ok && s.idle() {
			s.refuse(i, now)
			continue
		}
		if !ok {
			break
		}
		longest = max(longest, t.goal)
		s.takeIn(st, i, e, &budget, now)
	}
	if st.batch.Prompts == 0 {
		return
	}
	s.whole = batch{n: s.running.n, longest: longest, born: s.dec.tick}
	st.batch.Prefill, st.pairs = longest*st.batch.Prompts, float64(st.batch.Prompts)*float64(longest)*float64(longest)/2
	s.timed(st)
}
