package workload

import "time"

// Source of a workload that is described. One that replays a trace is made with Replay.
func (s Spec) Source() (Source, error) {
	if s.Trace != "" {
		return nil, bad("trace", s.Trace, "is not read yet", "open the file and replay it")
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	return s.generated(), nil
}

// generated makes requests from random numbers. What a request holds is drawn by the number of its session and turn,
// when it comes by the number of its session.
type generated struct {
	arrivals
	filling
	turns    turning
	left     int64  // requests that no session has taken yet
	sessions uint64 // begun
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

// Next is the first turn of the next session.
func (g *generated) Next() (Request, bool, error) {
	if g.left == 0 || !g.draw(g.sessions) {
		return Request{}, false, nil
	}
	return g.begin(g.now), true, nil
}

// begin a session: its turns are taken from what is left at once, so that how many sessions there are and how long they
// are does not rest on who is served first.
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

// After is the next turn of a session, or what the user of a closed loop asks next.
func (g *generated) After(done *Request, at time.Duration) (Request, bool) {
	session := done.User - 1
	if p, ok := g.turns.live[session]; ok {
		at += g.turns.pause(session, p.turn)
		if r, ok := g.nextTurn(done, at, session, p); ok {
			return r, true
		}
		delete(g.turns.live, session)
	} else if g.closed {
		at += g.turns.pause(session, MaxTurns) // of no turn
	}
	if !g.closed || g.left == 0 || at > g.last {
		return Request{}, false
	}
	return g.begin(at), true
}

// seconds as a duration, to the nearest nanosecond.
func seconds(s float64) time.Duration {
	return time.Duration(min(float64(s*1e9), MaxSeconds*1e9) + 0.5)
}
