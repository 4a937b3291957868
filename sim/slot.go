package sim

import (
	"time"

	"github.com/memwall/memwall/workload"
)

// slot is a live request.
type slot struct {
	workload.Request
	ready      time.Duration // when the engine saw it
	first      time.Duration // its first token; 0 before
	admitted   time.Duration // when it was first computed
	goal       int64         // tokens to compute before the next one is generated: the prompt, and after a preemption what was generated
	computed   int64         // of the goal, or of the whole while it decodes alone
	made       int64         // tokens generated up to when it joined the decoders
	turn       int64         // its place among all admissions
	reach      int64         // tokens that it has room for, where it drafted more than was accepted
	joined     int64         // tick at which it joined them
	hits       int64         // rows of the prompt that were found cached when it was first admitted
	rows       int64         // rows of the spans that it holds
	held       []int32       // spans
	prev, next int32         // in the order of running
	gen        uint32        // grows when the slot changes hands or state, so that what refers to the old one is stale
	preempted  int32
	spans      int32 // that the request came with
	state      state
	remote     bool  // another server computed its prompt
	whole      int64 // tokens that another server will generate of it; 0 where this one does all
	apart      bool  // others computed the next rows of its spans meanwhile: what it computes is its own
}

type state uint8

const (
	gone state = iota
	waits
	preempted // on its way back to the queue
	coming    // its cache is on the way
	prefills
	decodes
	ending   // its last token is being computed
	released // and its room was taken from it
)

// slots are the live requests of a server. Places are used again.
type slots struct {
	all   []slot
	empty []int32
	live  int64
}

func (s *slots) add(r *workload.Request) int32 {
	at := int32(len(s.all))
	if n := len(s.empty); n > 0 {
		at, s.empty = s.empty[n-1], s.empty[:n-1]
	} else {
		s.all = append(s.all, slot{})
	}
	s.live++
	t := &s.all[at]
	*t = slot{Request: *r, gen: t.gen + 1, spans: int32(len(r.Spans)), held: t.held[:0], goal: r.Prompt, state: waits, prev: nobody,
		next: nobody}
	return at
}

func (s *slots) remove(at int32) {
	t := &s.all[at]
	s.live--
	t.gen++
	t.state, t.Spans = gone, nil
	s.empty = append(s.empty, at)
}

// order is that in which requests were admitted.
type order struct {
	first, last int32
	n           int64
	turns       int64 // admissions
}

func newOrder() order { return order{first: nobody, last: nobody} }

func (o *order) push(s *slots, at int32) {
	t := &s.all[at]
	t.prev, t.next = o.last, nobody
	if o.last == nobody {
		o.first = at
	} else {
		s.all[o.last].next = at
	}
	o.last = at
	o.n++
	o.turns++
	t.turn = o.turns
}

func (o *order) remove(s *slots, at int32) {
	t := &s.all[at]
	if t.prev == nobody {
		o.first = t.next
	} else {
		s.all[t.prev].next = t.next
	}
	if t.next == nobody {
		o.last = t.prev
	} else {
		s.all[t.next].prev = t.prev
	}
	o.n--
}
