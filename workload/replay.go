package workload

import (
	"io"
	"time"
)

// Replay returns the source of a workload whose trace has been opened. With arrivals "trace", times are as recorded;
// otherwise requests are taken in file order at generated times, or when an answer arrives.
func (s Spec) Replay(r io.Reader) (Source, error) {
	if s.Trace == "" {
		s.Trace = "-"
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	t, err := Open(r, s.Reading)
	if err != nil {
		return nil, err
	}
	if s.Requests > 0 {
		t.most = int64(s.Requests)
	}
	if s.Arrivals == "trace" {
		if s.DurationS > 0 {
			t.until = seconds(s.DurationS)
		}
		if t.Format == "sharegpt" {
			return nil, bad("arrivals", s.Arrivals, "are not in a file of conversations",
				"poisson with a rate, or closed with a concurrency")
		}
		return t, nil
	}
	t.untimed, t.followers.hasty = true, s.Arrivals == "burst"
	return &replay{arrivals: s.arrivals(uint64(s.Seed)), Trace: t}, nil
}

// replay takes requests from a trace and their times from elsewhere.
type replay struct {
	arrivals
	*Trace
	begun uint64
	// branches counts requests in flight beyond one per user of a closed loop, since an answer may trigger several.
	branches int
}

// Next returns the next request of the trace, at the next arrival.
func (p *replay) Next() (Request, bool, error) {
	if p.err != nil || !p.draw(p.begun) {
		return p.Trace.failed()
	}
	return p.take(p.now)
}

// After returns the first request that follows an answer, or else, in a closed loop, the next of the trace. After an
// error it returns none; Next returns the error.
func (p *replay) After(done *Request, at time.Duration) (Request, bool) {
	if r, ok := p.Trace.After(done, at); ok {
		p.branches += len(p.followers.rest)
		return r, true
	}
	if !p.closed || at > p.arrivals.last {
		return Request{}, false
	}
	if p.branches > 0 {
		p.branches--
		return Request{}, false
	}
	r, ok, err := p.take(at)
	return r, ok && err == nil
}

func (p *replay) take(at time.Duration) (Request, bool, error) {
	r, ok, err := p.Trace.Next()
	r.Arrival = at
	p.begun++
	return r, ok, err
}
