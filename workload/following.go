package workload

import (
	"time"

	"github.com/memwall/memwall/fault"
)

// follower is a recorded request sent after another's answer and a pause: an agent's next step after a tool has run, or
// one of several parallel steps.
type follower struct {
	Request
	pause time.Duration
}

// following holds followers of a trace: those of the last request with a time of its own, up to the next such request.
type following struct {
	of    map[int64][]follower // by the index of the request they follow
	group map[uint64]*Request  // requests that may be followed, by name
	ahead *Request             // the next request with a time of its own, which ended the group
	rest  []Request            // followers beyond the one returned by After
	hasty bool                 // ignore pauses
}

// mostFollowers is the maximum per request with a time of its own; they are buffered until due.
const mostFollowers = 100_000

// add registers a request that others may follow.
func (f *following) add(r *Request) {
	if r.Own == 0 {
		return
	}
	if f.group == nil {
		f.group, f.of = map[uint64]*Request{}, map[int64][]follower{}
	}
	kept := *r
	f.group[r.Own] = &kept
}

// context returns what a follower begins with by default: everything up to the answer it follows.
func (r *record) context(of *Request) {
	if len(r.Spans) > 0 {
		return
	}
	r.Spans = append(append([]Span(nil), of.Spans...), Span{ID: of.Own, Tokens: of.Prompt - of.Shared() + of.Output})
	if n := r.Shared(); n > r.Prompt {
		whole := r.Prompt
		r.cut(whole)
	}
}

// follow registers a request that follows another of its group.
func (t *Trace) follow(r *record) *fault.Error {
	f := &t.followers
	of := f.group[r.after]
	switch {
	case r.timed && !t.untimed:
		return wrong("after", nil, Unfollowed, "an arrival_s or an after, not both")
	case of == nil:
		return wrong("after", nil, Unfollowed, "the own of a line before it, since the last one with an arrival_s")
	case len(f.of) == mostFollowers:
		return wrong("after", nil, TooMany, "fewer lines behind one with an arrival_s")
	}
	r.context(of)
	r.Arrival = t.last
	if r.User == 0 {
		r.User = of.User
	}
	if !t.take(&r.Request) {
		return nil
	}
	f.of[of.ID] = append(f.of[of.ID], follower{r.Request, r.pause})
	f.add(&r.Request)
	return nil
}

// After returns the first request that follows an answer; Rest returns the others.
func (t *Trace) After(done *Request, at time.Duration) (Request, bool) {
	all := t.followers.of[done.ID]
	if len(all) == 0 {
		return Request{}, false
	}
	delete(t.followers.of, done.ID)
	for i := range all {
		all[i].Arrival = at
		if !t.followers.hasty {
			all[i].Arrival += all[i].pause
		}
		if i > 0 {
			t.followers.rest = append(t.followers.rest, all[i].Request)
		}
	}
	return all[0].Request, true
}

// Rest returns the other requests that follow the same answer.
func (t *Trace) Rest() (Request, bool) {
	f := &t.followers
	if len(f.rest) == 0 {
		return Request{}, false
	}
	r := f.rest[0]
	f.rest = f.rest[1:]
	return r, true
}

// gather reads the followers of a request, up to the next one with a time of its own.
func (t *Trace) gather(first *Request) {
	clear(t.followers.group)
	t.followers.add(first)
	if r, ok := t.own(); ok {
		t.followers.ahead = &r
	}
}
