package workload

import "time"

// Source returns the source of a described workload. Use Replay for one that replays a trace.
func (s Spec) Source() (Source, error) {
	if s.Trace != "" {
		return nil, bad("trace", s.Trace, "is not read yet", "open the file and replay it")
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	return s.generated(), nil
}

// generated generates requests. Their content depends on the index of session and turn, their time on that of the
// session.
type generated struct {
	arrivals
	filling
	turns    turning
	left     int64  // requests not yet assigned to a session
	sessions uint64 // sessions begun
	made     int64  // requests
}

func (s *Spec) generated() *generated {
	seed := uint64(s.Seed)
	g := &generated{arrivals: s.arrivals(seed), filling: s.filling(seed), turns: s.turning(seed), left: int64(s.Requests)}
	if g.left == 0 {
		g.left = MaxRequests
	}
	return g
}

// Next returns the first turn of the next session.
func (g *generated) Next() (Request, bool, error) {
	if g.left == 0 || !g.draw(g.sessions) {
		return Request{}, false, nil
	}
	return g.begin(g.now), true, nil
}

// begin starts a session, assigning all its turns at once, so that number and length of sessions do not depend on the
// order of service.
func (g *generated) begin(at time.Duration) Request {
	session := g.sessions
	g.sessions++
	turns := min(g.turns.turnsOf(session), g.left)
	g.left -= turns
	r := Request{ID: g.made, Arrival: at, User: session + 1}
	g.made++
	g.fill(&r, session, 0)
	if turns > 1 {
		g.turns.live[session] = progress{last: uint64(turns - 1)}
		r.Own = requestName(&r)
	}
	return r
}

// After returns the next turn of a session, or the next request of a closed-loop user.
func (g *generated) After(done *Request, at time.Duration) (Request, bool) {
	session := done.User - 1
	if p, ok := g.turns.live[session]; ok {
		at += g.turns.pause(session, p.turn)
		if r, ok := g.nextTurn(done, at, session, p); ok {
			return r, true
		}
		delete(g.turns.live, session)
	} else if g.closed {
		at += g.turns.pause(session, MaxTurns) // not within a session
	}
	if !g.closed || g.left == 0 || at > g.last {
		return Request{}, false
	}
	return g.begin(at), true
}

// seconds converts to a duration, rounding to nanoseconds.
func seconds(s float64) time.Duration {
	return time.Duration(min(float64(s*1e9), MaxSeconds*1e9) + 0.5)
}
