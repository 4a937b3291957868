package workload

import "time"

// turning describes how sessions continue. Only continuing sessions are remembered.
type turning struct {
	many        bool // sessions may have more than one turn
	turns       sampler
	think       sampler
	count, wait stream
	most        int64 // maximum prompt tokens
	live        map[uint64]progress
}

// progress of a session: the last turn made, and its total.
type progress struct{ turn, last uint64 }

func (s *Spec) turning(seed uint64) turning {
	t := turning{count: newStream(seed, "turns"), wait: newStream(seed, "think"), most: MaxTokens}
	if s.Sessions == nil {
		return t
	}
	t.many, t.live = true, map[uint64]progress{}
	t.turns, t.think = s.Sessions.Turns.sampler(true), s.Sessions.ThinkS.sampler(false)
	if m := int64(s.Sessions.MaxTokens); m > 0 {
		t.most = m
	}
	return t
}

// turnsOf returns the number of turns of a session.
func (t *turning) turnsOf(session uint64) int64 {
	if !t.many {
		return 1
	}
	t.count.seek(session, 0)
	return min(t.turns.tokens(&t.count), MaxTurns)
}

// pause returns the user's pause after a turn.
func (t *turning) pause(session, turn uint64) time.Duration {
	if !t.many {
		return 0
	}
	t.wait.seek(session, turn)
	return seconds(t.think.draw(&t.wait))
}

// nextTurn returns the next turn of a session, whose prompt begins with the previous prompt and its answer. Turns share
// one growing list of spans. It returns false if time is up or the prompt would be too long.
func (g *generated) nextTurn(done *Request, at time.Duration, session uint64, p progress) (Request, bool) {
	p.turn++
	r := Request{ID: g.made, Arrival: at, User: done.User}
	g.fill(&r, session, p.turn)
	before := done.Prompt + done.Output
	r.Prompt += before
	if at > g.last || r.Prompt > g.turns.most {
		return Request{}, false
	}
	g.made++
	r.Spans = append(done.Spans, Span{done.Own, before - done.Shared()})
	r.Priority, r.Adapter = done.Priority, done.Adapter
	if p.turn < p.last {
		r.Own = requestName(&r)
		g.turns.live[session] = p
	} else {
		delete(g.turns.live, session)
	}
	return r, true
}

// requestName returns the name of what a request adds. Odd names are of requests, even ones of prefixes.
func requestName(r *Request) uint64 { return uint64(r.ID)<<1 | 1 }
