package sim

import "time"

// inflight batches the iterations of sequences, not sequences (Orca, OSDI '22): each step has a token of every sequence
// that decodes, and as much of prompts as its budget leaves room for.
//
// vLLM V1 (v1/core/sched/scheduler.py): what runs goes first, in order; where room is short, who came last is preempted
// and computes all again. Those who wait are then admitted in order while seats, budget and room last, but not in a step
// that preempted. TensorRT-LLM computes tokens first and then prompts likewise (capacity and micro-batch schedulers); with
// GUARANTEED_NO_EVICT it admits a request only if its longest answer will find room (Promise), MAX_UTILIZATION pauses
// who came last. llama-server has a seat for each slot.
//
// Prompts of which several are computed in pieces at a time are given what the budget leaves after all decoders; vLLM
// would let a decoder that was admitted after such a prompt wait for it, where the budget is that short.
type inflight struct{}

func (inflight) compose(s *server, st *step, now, start time.Duration) bool {
	preempted := s.makeRoom()
	st.batch = s.going()
	budget := s.Budget - s.dec.n*s.draft.width()
	if s.dec.n > 0 && len(s.partial) == 0 && !preempted && !s.admissible() {
		s.timed(st)
		s.decode(st, s.stretch(st, now, start))
		return true
	}
	s.decode(st, 1)
	s.prompts(st, &budget)
	if s.why = 0; !preempted {
		s.admit(st, &budget, now)
	}
	if st.batch.Decodes+st.batch.Prefill == 0 {
		return false
	}
	s.timed(st)
	return true
}

// makeRoom preempts who came last until those who run find room for their next tokens.
func (s *server) makeRoom() (preempted bool) {
	for {
		budget := s.Budget - s.dec.n*s.draft.width()
		if s.needs()+s.pieces(&budget) <= s.pool.free {
			return preempted
		}
		s.preempt(s.victim())
		preempted = true
	}
}

// victim is who came last, or who ranks last.
func (s *server) victim() int32 {
	if s.Ranked {
		return s.lowest()
	}
	return s.running.last
}

func (s *server) lowest() (worst int32) {
	worst = s.running.first
	for at := s.running.first; at != nobody; at = s.slots.all[at].next {
		if s.ranks(worst, at) {
			worst = at
		}
	}
	return worst
}

// pieces are the blocks that the next pieces of prompts take which are being computed.
func (s *server) pieces(budget *int64) (blocks int64) {
	for _, at := range s.partial {
		t := &s.slots.all[at]
		n := s.piece(t, *budget)
		blocks += s.blocksAt(t, t.computed+n) - s.blocksAt(t, t.computed)
		*budget -= n
	}
	return blocks
}

// piece is how much of a prompt is computed in a step.
func (s *server) piece(t *slot, budget int64) int64 {
	n := t.goal - t.computed
	if s.LongPrompt > 0 {
		n = min(n, s.LongPrompt)
	}
	return max(0, min(n, budget))
}

// prompts computes the next pieces.
func (s *server) prompts(st *step, budget *int64) {
	left := s.partial[:0]
	for _, at := range s.partial {
		t := &s.slots.all[at]
		if n := s.piece(t, *budget); n > 0 {
			s.compute(st, at, n)
			*budget -= n
		}
		if t.state == prefills {
			left = append(left, at)
		}
	}
	s.partial = left
}

// compute a piece of a prompt. With its last one comes the next token.
func (s *server) compute(st *step, at int32, n int64) {
	t := &s.slots.all[at]
	s.pool.take(s.blocksAt(t, t.computed+n) - s.blocksAt(t, t.computed))
	st.batch.Prefill += n
	st.batch.Prompts++
	st.pairs += float64(n) * (float64(t.computed) + float64(n)/2)
	t.computed += n
	s.share(t)
	if t.computed < t.goal {
		return
	}
	s.store.put(t.Spans, t.computed)
	st.batch.Finished++
	st.tokens++
	st.firsts = append(st.firsts, first{at, t.ID})
	if t.made++; t.made < t.Output {
		s.join(at)
		return
	}
	t.state = ending
	st.lasts = append(st.lasts, at)
}

// admissible reports whether the first who waits might be admitted now.
func (s *server) admissible() bool {
	s.why, s.frail = 0, false
	i := s.upNext()
	if i < 0 {
		return false
	}
	e, ok := s.entry(&s.slots.all[s.waiting.at(i)], s.Budget-s.dec.n*s.draft.width())
	s.frail = s.why == Room && e.cached > 0
	if s.frail && s.needs() > s.pool.plain() {
		return true
	}
	return ok || s.idle()
}

// entry is how a request would begin: with rows of its prompt that are cached, so many blocks of which nobody holds, those
// after them that each tier has, and a first piece of the rest.
type entry struct {
	hits          int64
	stored        perTier
	cached, piece int64
}

func (s *server) entry(t *slot, budget int64) (e entry, ok bool) {
	e.hits, e.stored, e.cached = s.matched(t)
	rest := t.goal - (e.hits+e.stored.sum())*s.BlockTokens
	if e.piece = rest; s.LongPrompt > 0 {
		e.piece = min(e.piece, s.LongPrompt)
	}
	if s.WholePrompts && e.piece > budget {
		s.why = Budget
		return e, false
	}
	if e.piece = min(e.piece, budget); e.piece <= 0 {
		s.why = Budget
		return e, false
	}
	if !s.fits(t, e) {
		s.why = Room
		return e, false
	}
	return e, true
}

// matched is what is cached of a prompt, looked up again only when something of the cache changed since.
func (s *server) matched(t *slot) (rows int64, stored perTier, free int64) {
	m := &s.last
	if now := (sight{t, t.gen, t.goal, len(t.Spans), s.pool.changed + s.store.changed()}); m.sight != now {
		m.sight = now
		m.rows, m.stored, m.free = s.pool.match(t.Spans, t.goal)
		m.stored[InStore] = s.store.beyond(t.Spans, t.goal, m.rows+m.stored.sum())
	}
	return m.rows, m.stored, m.free
}

// looked is a look into the cache, and what was found.
type looked struct {
	sight
	rows, free int64
	stored     perTier
}

// sight is all that a look depends on.
type sight struct {
	slot    *slot
	gen     uint32
	goal    int64
	spans   int
	changed int64
}

// fits reports whether a request finds room to begin, and where its answer is promised room, to end. One that was
// preempted may have become too long for all the room there is.
func (s *server) fits(t *slot, e entry) bool {
	if s.Promise && !s.ends(t, e) {
		return false
	}
	free, first := s.pool.free-e.cached, (e.hits+e.stored.sum())*s.BlockTokens+e.piece
	if s.WholeRoom {
		first = t.goal
	}
	return s.blocksFor(&t.Request, first, e.hits) <= free && s.blocksFor(&t.Request, t.goal, 0) <= s.Blocks
}

// ends reports whether a request finds room to end, beside those who run.
func (s *server) ends(t *slot, e entry) bool {
	return s.promised()+s.blocksFor(&t.Request, t.Prompt+t.Output, e.hits)+e.cached <= s.pool.free
}

// promised are the blocks that those who run will still take.
func (s *server) promised() (n int64) {
	for at := s.running.first; at != nobody; at = s.slots.all[at].next {
		t := &s.slots.all[at]
		n += s.blocksAt(t, t.Prompt+t.Output) - s.holding(t)
	}
	return n
}

// admit those who wait, in order.
func (s *server) admit(st *step, budget *int64, now time.Duration) {
	for {
		i := s.upNext()
		if i < 0 {
			return
		}
		e, ok := s.entry(&s.slots.all[s.waiting.at(i)], *budget)
		switch {
		case ok:
			s.takeIn(st, i, e, budget, now)
		case s.idle():
			s.refuse(i, now)
		default:
			return
		}
	}
}

// upNext is the place in the queue of who is to be admitted next; -1 where nobody waits for it, has a seat, or room for his
// adapter. Those whose prompts were computed elsewhere are received instead.
func (s *server) upNext() int {
	switch {
	case s.waiting.n == 0 || s.slots.all[s.waiting.first()].remote:
		return -1
	case s.seated() >= s.MaxSequences:
		s.why = Seats
		return -1
	}
	return s.turn()
}

// takeIn admits one who waits, with a first piece of his prompt, or has come what a tier has of it.
func (s *server) takeIn(st *step, i int, e entry, budget *int64, now time.Duration) {
	at := s.waiting.at(i)
	s.waiting.remove(i)
	if e.stored.sum() > 0 {
		s.fetch(at, e, now)
		return
	}
	s.enter(at, e, now)
	s.compute(st, at, e.piece)
	if *budget -= e.piece; s.slots.all[at].state == prefills {
		s.partial = append(s.partial, at)
	}
}

// enter takes a request in: it holds what is cached of its prompt.
func (s *server) enter(at int32, e entry, now time.Duration) {
	t := &s.slots.all[at]
	t.state = prefills
	s.run(at)
	s.begins(t, e, now)
}

// begins with what is cached.
func (s *server) begins(t *slot, e entry, now time.Duration) {
	if t.preempted == 0 {
		t.admitted, t.hits = now, e.hits+e.stored.sum()
		s.m.admitted(t, t.hits*s.BlockTokens, s.BlockTokens, e.stored)
	}
	s.grasp(t, e.hits)
	t.computed = e.hits * s.BlockTokens
	s.pool.take(s.holding(t)) // windows and states of what is cached
	if s.Reserve != nil {
		s.reserved += s.Reserve(&t.Request)
		s.final += t.Prompt + t.Output
	}
}

// refuse a request that finds no room though nothing runs.
func (s *server) refuse(i int, now time.Duration) {
	at := s.waiting.at(i)
	s.waiting.remove(i)
	s.again = true
	how := Refused
	if s.slots.all[at].made > 0 {
		how = Failed
	}
	s.done(s, at, now, how)
}
