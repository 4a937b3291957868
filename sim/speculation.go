package sim

import "math/rand/v2"

// Speculation drafts tokens that a step verifies. The Timer of such a replica counts the drafts of every decoding
// sequence.
type Speculation struct {
	Tokens int64
	// Slots is the cache that a decoding sequence holds beyond its own tokens, in tokens (sglang/srt/speculative/eagle_utils.py,
	// eagle_prepare_for_decode); 0 if only for what a step verifies.
	Slots int64
	// Accepted holds the probabilities that at least 1, 2, … drafts are accepted, non-increasing.
	Accepted []float64
	Seed     uint64
}

// drafting is the state of speculation. Sequences then do not advance in lockstep.
type drafting struct {
	*Speculation
	random *rand.PCG
}

// acceptances seeds the random numbers for accepting drafts.
const acceptances = 0xac

func newDrafting(s *Speculation, index int) drafting {
	if s == nil || s.Tokens == 0 {
		return drafting{}
	}
	return drafting{s, rand.NewPCG(s.Seed, acceptances<<32|uint64(index))}
}

func (d *drafting) on() bool { return d.Speculation != nil }

// width returns the tokens per sequence that a step computes.
func (d *drafting) width() int64 {
	if d.on() {
		return d.Tokens + 1
	}
	return 1
}

// gain draws a sequence's progress in a step: the accepted drafts plus one token.
func (d *drafting) gain() (n int64) {
	x := d.draw()
	for n = 1; n <= int64(len(d.Accepted)) && x < d.Accepted[n-1]; n++ {
	}
	return n
}

// draw returns a uniform random number in [0, 1).
func (d *drafting) draw() float64 { return float64(d.random.Uint64()>>11) / (1 << 53) }

// drafted returns the blocks that a step of drafts allocates: space for all of them is needed before it is known which
// are accepted (vllm/v1/core/sched/scheduler.py, num_lookahead_tokens).
func (s *server) drafted() (blocks int64) {
	for at := s.running.first; at != nobody; at = s.slots.all[at].next {
		if t := &s.slots.all[at]; t.state == decodes {
			blocks += s.blocksAt(t, s.draft.ahead(t)) - s.blocksAt(t, max(t.reach, t.computed))
		}
	}
	return blocks
}

// ahead returns how far the cache of a sequence reaches in a step.
func (d *drafting) ahead(t *slot) int64 {
	return max(t.reach, t.computed+max(d.Slots, min(d.width(), t.Output-t.made)))
}

// verify schedules a step in which every decoding sequence gains its accepted drafts.
func (s *server) verify(st *step) {
	s.pool.take(s.drafted())
	s.dec.tick++
	for at := s.running.first; at != nobody; {
		t := &s.slots.all[at]
		next := t.next
		if t.state == decodes {
			s.advance(st, at, t)
		}
		at = next
	}
}

func (s *server) advance(st *step, at int32, t *slot) {
	t.reach = s.draft.ahead(t)
	n := min(s.draft.gain(), t.Output-t.made)
	t.made += n
	t.computed += n
	s.dec.sum += n
	s.dec.left -= n
	st.tokens += n
	if t.made == t.Output {
		s.leave(t)
		t.state = ending
		st.lasts = append(st.lasts, at)
	}
}
