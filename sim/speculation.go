package sim

import "math/rand/v2"

// Speculation drafts tokens that a step verifies. The clock of a replica that speculates counts the drafts of every sequence that
// decodes.
type Speculation struct {
	Tokens int64
	// Accepted are the chances that at least 1, 2, … of them are accepted, none larger than the one before it.
	Accepted []float64
	Seed     uint64
}

// drafting is speculation at work. Sequences then do not advance in lockstep.
type drafting struct {
	*Speculation
	random *rand.PCG
}

// acceptances is the stream of random numbers of accepted drafts.
const acceptances = 0xac

func newDrafting(s *Speculation, index int) drafting {
	if s == nil || s.Tokens == 0 {
		return drafting{}
	}
	return drafting{s, rand.NewPCG(s.Seed, acceptances<<32|uint64(index))}
}

func (d *drafting) on() bool { return d.Speculation != nil }

// width is how many tokens of a sequence a step computes.
func (d *drafting) width() int64 {
	if d.on() {
		return d.Tokens + 1
	}
	return 1
}

// gain of a sequence in a step: the drafts that are accepted, and one token more.
func (d *drafting) gain() (n int64) {
	x := d.draw()
	for n = 1; n <= int64(len(d.Accepted)) && x < d.Accepted[n-1]; n++ {
	}
	return n
}

// draw a number from 0 to 1, evenly.
func (d *drafting) draw() float64 { return float64(d.random.Uint64()>>11) / (1 << 53) }

// drafted are the blocks that a step of drafts takes: rooms for all of them are there before it is known which are
// accepted (vllm/v1/core/sched/scheduler.py, num_lookahead_tokens).
func (s *server) drafted() (blocks int64) {
	for at := s.running.first; at != nobody; at = s.slots.all[at].next {
		if t := &s.slots.all[at]; t.state == decodes {
			blocks += s.blocksAt(t, t.ahead(s.draft.width())) - s.blocksAt(t, max(t.reach, t.computed))
		}
	}
	return blocks
}

// ahead is how far a sequence may get in a step.
func (t *slot) ahead(width int64) int64 {
	return max(t.reach, t.computed+min(width, t.Output-t.made))
}

// verify composes a step in which every decoder gains what is accepted of its drafts.
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
	t.reach = t.ahead(s.draft.width())
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
