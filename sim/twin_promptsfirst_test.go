package sim

import "time"

// promptsFirst is the policy of that name: steps of prompts alone, or with a token of each sequence, while requests find room with their
// whole answers beside a share of those of others.
func (s *twinServer) promptsFirst(st *twinStep, now time.Duration) {
	if s.share == 0 {
		s.share = firstShare
	}
	budget := s.Budget
	if s.Mixed && len(s.decoding()) > 0 &&
		(len(s.partial()) > 0 || len(s.waiting) > 0 && !s.full && s.seats() < s.MaxSequences) {
		for len(s.decoding()) > 0 && s.next1()+s.pieces(budget-int64(len(s.decoding()))) > int64(len(s.pool.queue)) {
			s.retire(s.shortest())
		}
		budget -= s.decode(st)
	}
	s.goOn()
	for _, q := range s.partial() {
		if n := min(s.piece(q), budget); n > 0 {
			budget -= s.prompt(st, q, n)
		}
	}
	if !s.full {
		s.admitBold(st, &budget, now)
	}
	if st.batch.Prefill+st.batch.Decodes > 0 || len(s.decoding()) == 0 {
		return
	}
	if s.retract(); len(s.decoding()) == 0 {
		s.promptsFirst(st, now)
		return
	}
	s.decode(st)
	s.share = max(boldestShare, s.share-(firstShare-boldestShare)/shareSteps)
}

// decoding are the sequences that decode, partial those whose prompts are computed, in the order of their admission.
func (s *twinServer) decoding() (out []*twinSeq) {
	for _, q := range s.running {
		if q.decoding && !q.ending {
			out = append(out, q)
		}
	}
	return out
}

func (s *twinServer) partial() (out []*twinSeq) {
	for _, q := range s.running {
		if !q.decoding && !q.ending {
			out = append(out, q)
		}
	}
	return out
}

// next1 is what the next token of all who decode takes, pieces what the next pieces of prompts do.
func (s *twinServer) next1() (blocks int64) {
	for _, q := range s.decoding() {
		blocks += s.more(q, q.computed+1)
	}
	return blocks
}

func (s *twinServer) pieces(budget int64) (blocks int64) {
	for _, q := range s.partial() {
		n := min(s.piece(q), budget)
		blocks += s.more(q, q.computed+n)
		budget -= n
	}
	return blocks
}

// goOn frees what the next pieces of prompts take.
func (s *twinServer) goOn() {
	for len(s.partial()) > 0 && s.pieces(s.Budget) > int64(len(s.pool.queue)) {
		if len(s.decoding()) > 0 {
			s.retire(s.shortest())
		} else {
			p := s.partial()
			s.preempt(p[len(p)-1])
		}
	}
}

func (s *twinServer) admitBold(st *twinStep, budget *int64, now time.Duration) {
	left := int64(0)
	for _, q := range s.decoding() {
		left += q.r.Output - q.made
	}
	kept := int64(s.share * float64(left))
	for len(s.partial()) == 0 && len(s.waiting) > 0 && !s.waiting[0].remote && s.seats() < s.MaxSequences {
		q, before := s.waiting[0], len(s.running)
		answer := q.r.Output - q.made
		if !s.admit(st, budget, now, kept) {
			s.full = s.scarce
			return
		}
		if len(s.running) > before {
			kept += answer
		}
	}
}

// retract those with the fewest tokens until the next step has room.
func (s *twinServer) retract() {
	free := func() int64 { return int64(len(s.pool.queue)) }
	if s.next1() <= free() {
		return
	}
	for len(s.decoding()) > 1 && s.next1() > free() {
		s.retire(s.shortest())
	}
	if s.next1() > free() {
		s.preempt(s.shortest())
	}
	s.full = false
	made, all := int64(0), int64(0)
	for _, q := range s.decoding() {
		made += q.made + retractSteps
		all += q.r.Output
	}
	if s.share = firstShare; all > 0 {
		s.share = min(1, float64(made)/float64(all))
	}
}

// retire sends a sequence to the end of the queue.
func (s *twinServer) retire(q *twinSeq) {
	s.preempt(q)
	s.waiting = append(s.waiting[1:], q)
}

// shortest has the fewest tokens; of several the longest prompt.
func (s *twinServer) shortest() (best *twinSeq) {
	for _, q := range s.decoding() {
		if best == nil || q.made < best.made || q.made == best.made && q.r.Prompt > best.r.Prompt {
			best = q
		}
	}
	return best
}
