package sim

import (
	"slices"
	"time"

	"github.com/memwall/memwall/workload"
)

// context returns the cached context of a slot.
func (s *server) context(t *slot) int64 {
	if t.state == decodes && !s.draft.on() {
		return t.computed + s.dec.tick - t.joined
	}
	return t.computed
}

// holding returns the blocks of a slot's own.
func (s *server) holding(t *slot) int64 { return s.blocksAt(t, max(t.reach, s.context(t))) }

func (s *server) blocksAt(t *slot, context int64) int64 {
	return s.blocksFor(&t.Request, context, t.rows)
}

// blocksFor returns the unshared blocks of a request at some context, the first rows of which are shared.
func (s *server) blocksFor(r *workload.Request, context, shared int64) int64 {
	if context == 0 {
		return 0
	}
	if s.Reserve != nil {
		return s.Reserve(r) * s.Full
	}
	return s.pool.blocks(s.pool.rows(context), shared)
}

// windowed reports whether the windows of a sequence of some context still grow.
func (s *server) windowed(context int64) bool {
	return s.Reserve == nil && s.Window > 0 && context < s.Rows*s.BlockTokens
}

// joining is a sequence that has had no token since it joined those that decode.
type joining struct {
	id    int64
	token time.Duration // when its last token came, composed or received
}

type joins []joining

// drop forgets a sequence that goes before its answer is whole.
func (j *joins) drop(id int64) {
	*j = slices.DeleteFunc(*j, func(x joining) bool { return x.id == id })
}

// composed: the token comes with the step that is being composed. received: it came from another server before that step.
const composed, received = -1, -2

// join starts decoding a slot whose prompt is computed.
func (s *server) join(at int32) {
	t := &s.slots.all[at]
	d := &s.dec
	t.state, t.joined, t.gen = decodes, d.tick, t.gen+1
	s.joined = append(s.joined, joining{t.ID, composed})
	remaining := t.Output - t.made
	if s.draft.on() {
		d.n, d.sum, d.left = d.n+1, d.sum+t.computed, d.left+remaining
		return
	}
	d.join(t.computed, remaining, s.windowed(t.computed))
	d.ends.push(due{d.tick + remaining - 1, t.turn, at, t.gen})
	if s.windowed(t.computed) {
		d.fills.push(due{d.tick + s.Rows*s.BlockTokens - t.computed, t.turn, at, t.gen})
	}
}

// leave removes a slot from the decoding sequences and updates what it generated.
func (s *server) leave(t *slot) {
	d := &s.dec
	t.gen++
	if s.draft.on() {
		d.n, d.sum, d.left = d.n-1, d.sum-t.computed, d.left-(t.Output-t.made)
		return
	}
	now := s.context(t)
	gained := now - t.computed
	d.leave(t.joined, t.computed, t.Output-t.made-gained, s.windowed(now))
	t.made += gained
	t.computed = now
}

// release frees what a slot holds. What it computed beyond its spans stays cached under its own name, as far as its
// tokens are known.
func (s *server) release(t *slot, known int64) {
	s.keep(t, known)
	s.pool.give(s.holding(t))
	if s.Reserve != nil {
		s.reserved -= s.Reserve(&t.Request)
		s.final -= t.Prompt + t.Output
	}
	s.unhold(t)
	t.rows, t.computed, t.reach = 0, 0, 0
}

// preempt moves a slot back to the front of the queue: it must recompute everything, including what it generated,
// unless still cached then. If its last token is being computed, it only gives up its space and ends normally.
func (s *server) preempt(at int32) {
	t := &s.slots.all[at]
	switch t.state {
	case decodes:
		s.leave(t)
		s.joined.drop(t.ID)
	case prefills:
		s.unlist(at)
	}
	s.quit(at)
	t.preempted++
	s.m.preempted++
	s.again = true
	known := s.known(t)
	if t.state == ending {
		s.release(t, known)
		t.state = released
		return
	}
	t.state = preempted
	s.release(t, known)
	t.goal = t.Prompt + t.made
	if own := t.own(); own != 0 && s.PrefixCache {
		t.Spans = append(slices.Clip(t.Spans), workload.Span{ID: own, Tokens: t.goal - t.Shared()})
	}
	t.state, t.apart = waits, false
	if s.Ranked {
		s.wait(at)
		return
	}
	s.waiting.pushFront(at)
}

// known returns the cached tokens of a slot whose identity is known, which excludes the one being computed.
func (s *server) known(t *slot) int64 {
	if s.cur != nil && t.computed > t.goal {
		return t.computed - 1
	}
	return t.computed
}

// unlist removes a prompt that is no longer being computed.
func (s *server) unlist(at int32) {
	for i, p := range s.partial {
		if p == at {
			s.partial = append(s.partial[:i], s.partial[i+1:]...)
			return
		}
	}
}
