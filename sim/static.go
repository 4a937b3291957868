package sim

import "time"

// Static batches sequences as a whole: a batch takes who waits when it begins, pads their prompts to the longest, and
// nobody joins before the last of them has ended. There is room for all answers from the start. Its time is that of a full batch to the
// end.
var Static Policy = static{}

type static struct{}

// batch of static batching.
type batch struct {
	n       int64 // sequences at its begin
	longest int64 // prompt
	born    int64 // tick
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

// gather a batch of those who wait, and compute their prompts.
func (s *server) gather(st *step, now time.Duration) {
	s.why = 0
	var longest int64
	for i := s.upNext(); i >= 0; i = s.upNext() {
		t := &s.slots.all[s.waiting.at(i)]
		budget := t.goal
		e, ok := s.entry(t, budget)
		e.stored, e.piece = perTier{}, t.goal-e.hits*s.BlockTokens // never in pieces, nor later than the others
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
