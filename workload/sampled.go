package workload

import "time"

// Sampled asks for several answers to each prompt: a request for each, at the same moment, that begin with the same prompt. What its user
// asks next comes when the last of the answers is there, and begins with none of them. One answer each is the source itself.
func Sampled(s Source, answers int64) Source {
	if answers <= 1 {
		return s
	}
	return &sampled{source: s, answers: answers, open: map[int64]*parent{}}
}

// sampledSpan marks the names of prompts that several answers share, so that no other span has them.
const sampledSpan = 1 << 62

type sampled struct {
	source  Source
	answers int64
	current Request
	left    int64     // answers to the current prompt that no one has taken
	rest    []Request // answers to the prompts that came after another, which no one has taken
	open    map[int64]*parent
}

// parent is a prompt some of whose answers are not there yet.
type parent struct {
	request Request
	left    int64
}

// Next gives the answers to one prompt after another.
func (s *sampled) Next() (Request, bool, error) {
	if s.left == 0 {
		r, ok, err := s.source.Next()
		if err != nil || !ok {
			return r, ok, err
		}
		s.current, s.left = r, s.answers
		s.begin(r)
	}
	s.left--
	return s.answer(&s.current, s.answers-1-s.left), true, nil
}

func (s *sampled) begin(r Request) { s.open[r.ID] = &parent{request: r, left: s.answers} }

// After the last answer to a prompt its user asks the next.
func (s *sampled) After(done *Request, at time.Duration) (Request, bool) {
	id := done.ID / s.answers
	p := s.open[id]
	if p.left--; p.left > 0 {
		return Request{}, false
	}
	delete(s.open, id)
	for r, ok := s.source.After(&p.request, at); ok; r, ok = rest(s.source) {
		s.begin(r)
		for k := range s.answers {
			s.rest = append(s.rest, s.answer(&r, k))
		}
	}
	return s.Rest()
}

// rest of a source that may bring several requests at once.
func rest(s Source) (Request, bool) {
	if several, ok := s.(Several); ok {
		return several.Rest()
	}
	return Request{}, false
}

// Rest are the further answers to the prompts that After gave.
func (s *sampled) Rest() (r Request, ok bool) {
	if len(s.rest) == 0 {
		return r, false
	}
	r, s.rest = s.rest[0], s.rest[1:]
	return r, true
}

// answer is the request for the k-th answer to a prompt.
func (s *sampled) answer(of *Request, k int64) Request {
	r := *of
	r.ID = of.ID*s.answers + k
	r.Own = 0
	if own := r.Prompt - of.Shared(); own > 0 {
		r.Spans = append(append([]Span(nil), of.Spans...), Span{ID: sampledSpan | uint64(of.ID), Tokens: own})
	}
	return r
}
