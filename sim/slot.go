package sim

import (
	"time"

	"github.com/memwall/memwall/workload"
)

// slot is a live request.
type slot struct {
	workload.Request
	ready      time.Duration // when the engine received it
	first      time.Duration // first token; 0 if none yet
	admitted   time.Duration // when it was first computed
	goal       int64         // tokens to compute before the next one is generated: the prompt and, after a preemption, what was generated
	computed   int64         // of the goal; while decoding, of everything
	made       int64         // generated before it joined the decoding sequences
	turn       int64         // admission number
	reach      int64         // tokens with allocated space, if it drafted more than was accepted
	joined     int64         // tick of joining
	hits       int64         // rows of the prompt found cached at first admission
	rows       int64         // rows held of its spans
	held       []int32       // span indexes
	prev, next int32         // order of running
	gen        uint32        // increases on reuse or change of state, to invalidate old references
	preempted  int32
	spans      int32 // number of spans that the request came with
	state      state
	remote     bool  // prefilled by another server
	whole      int64 // tokens that another server will generate; 0 if this one does all
	apart      bool  // others computed its next rows meanwhile: what it computes is private
}

type state uint8

const (
	gone state = iota
	waits
	preempted // returning to the queue
	coming    // cache in transit
	prefills
	decodes
	ending   // computing its last token
	released // same, with its space taken
)

// slots are the live requests of a server. Indexes are reused.
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

// order is the order of admission.
type order struct {
	first, last int32
	n           int64
	turns       int64 // admissions so far
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
