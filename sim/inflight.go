package sim

import "time"

// inflight batches iterations rather than sequences (Orca, OSDI '22): each step has one token of every decoding
// sequence, and as many prompt tokens as its budget leaves.
//
// vLLM V1 (v1/core/sched/scheduler.py): running requests go first, in order; if the cache is short, the latest is
// preempted and recomputed. Waiting requests are then admitted in order while sequences, budget and cache last, except
// in a step that preempted. TensorRT-LLM likewise schedules decode before prefill (capacity and micro-batch
// schedulers); GUARANTEED_NO_EVICT admits a request only if its longest answer will fit (Promise), MAX_UTILIZATION
// pauses the latest. llama-server has a fixed number of slots.
//
// If several prompts are chunked at a time, they share what all decoding sequences leave of the budget; with a budget
// that short, vLLM would make a sequence admitted after such a prompt wait for it.
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

// makeRoom preempts the latest requests until the running ones have space for their next tokens.
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

// victim returns the request admitted last, or of lowest priority.
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

// pieces returns the blocks needed for the next chunks of partially computed prompts.
func (s *server) pieces(budget *int64) (blocks int64) {
	for _, at := range s.partial {
		t := &s.slots.all[at]
		n := s.piece(t, *budget)
		blocks += s.blocksAt(t, t.computed+n) - s.blocksAt(t, t.computed)
		*budget -= n
	}
	return blocks
}

// piece returns how much of a prompt to compute in a step.
func (s *server) piece(t *slot, budget int64) int64 {
	n := t.goal - t.computed
	if s.LongPrompt > 0 {
		n = min(n, s.LongPrompt)
	}
	return max(0, min(n, budget))
}

// prompts schedules the next chunks.
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

// compute schedules a chunk of a prompt. The last one also yields a token.
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

// admissible reports whether the first waiting request might be admitted now.
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

// entry is how a request would start: the cached rows of its prompt, how many of their blocks are unreferenced, the
// following rows that each tier holds, and the first chunk of the rest.
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

// matched returns what is cached of a prompt; lookups are repeated only after the cache has changed.
func (s *server) matched(t *slot) (rows int64, stored perTier, free int64) {
	m := &s.last
	if now := (sight{t, t.gen, t.goal, len(t.Spans), s.pool.changed + s.store.changed()}); m.sight != now {
		m.sight = now
		m.rows, m.stored, m.free = s.pool.match(t.Spans, t.goal)
		m.stored[InStore] = s.store.beyond(t.Spans, t.goal, m.rows+m.stored.sum())
	}
	return m.rows, m.stored, m.free
}

// looked is a cache lookup and its result.
type looked struct {
	sight
	rows, free int64
	stored     perTier
}

// sight is all that a lookup depends on.
type sight struct {
	slot    *slot
	gen     uint32
	goal    int64
	spans   int
	changed int64
}

// fits reports whether there is space for a request to start and, under Promise, to finish. A preempted one may have
// outgrown the whole cache.
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

// ends reports whether there is space for a request to finish alongside the running ones.
func (s *server) ends(t *slot, e entry) bool {
	return s.promised()+s.blocksFor(&t.Request, t.Prompt+t.Output, e.hits)+e.cached <= s.pool.free
}

// promised returns the blocks that running requests will still allocate.
func (s *server) promised() (n int64) {
	for at := s.running.first; at != nobody; at = s.slots.all[at].next {
		t := &s.slots.all[at]
		n += s.blocksAt(t, t.Prompt+t.Output) - s.holding(t)
	}
	return n
}

// admit admits waiting requests, in order.
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

// upNext returns the queue position of the next request to admit; -1 if none waits for admission, no sequence is free,
// or no adapter space. Requests prefilled elsewhere are received instead.
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

// takeIn admits a waiting request with a first chunk of its prompt, or starts loading what a tier holds of it.
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

// enter admits a request, which then holds the cached rows of its prompt.
func (s *server) enter(at int32, e entry, now time.Duration) {
	t := &s.slots.all[at]
	t.state = prefills
	s.run(at)
	s.begins(t, e, now)
}

// begins starts a request from what is cached.
func (s *server) begins(t *slot, e entry, now time.Duration) {
	if t.preempted == 0 {
		t.admitted, t.hits = now, e.hits+e.stored.sum()
		s.m.admitted(t, t.hits*s.BlockTokens, s.BlockTokens, e.stored)
	}
	s.grasp(t, e.hits)
	t.computed = e.hits * s.BlockTokens
	s.pool.take(s.holding(t)) // windows and states of the cached part
	if s.Reserve != nil {
		s.reserved += s.Reserve(&t.Request)
		s.final += t.Prompt + t.Output
	}
}

// refuse rejects a request that does not fit even though nothing runs.
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
