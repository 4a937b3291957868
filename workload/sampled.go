package workload

import "time"

// Sampled requests several answers to each prompt: one request per answer, at the same time, with the same prompt. The
// user's follow-up is sent after the last answer, and continues none of them. With one answer, Sampled returns the
// source itself.
func Sampled(s Source, answers int64) Source {
	if answers <= 1 {
		return s
	}
	return &sampled{source: s, answers: answers, open: map[int64]*parent{}}
}

// sampledSpan marks the names of prompts shared by several answers, to keep them distinct.
const sampledSpan = 1 << 62

type sampled struct {
	source  Source
	answers int64
	current Request
	left    int64     // answers to the current prompt not yet returned
	rest    []Request // answers to follow-up prompts not yet returned
	open    map[int64]*parent
}

// parent is a prompt with outstanding answers.
type parent struct {
	request Request
	left    int64
}

// Next returns the answers to one prompt after another.
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

// After returns the user's follow-up after the last answer to a prompt.
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

// rest returns a further follow-up of a source that may have several.
func rest(s Source) (Request, bool) {
	if several, ok := s.(Several); ok {
		return several.Rest()
	}
	return Request{}, false
}

// Rest returns the further answers to the prompts from After.
func (s *sampled) Rest() (r Request, ok bool) {
	if len(s.rest) == 0 {
		return r, false
	}
	r, s.rest = s.rest[0], s.rest[1:]
	return r, true
}

// answer returns the request for the k-th answer to a prompt.
func (s *sampled) answer(of *Request, k int64) Request {
	r := *of
	r.ID = of.ID*s.answers + k
	r.Own = 0
	if own := r.Prompt - of.Shared(); own > 0 {
		r.Spans = append(append([]Span(nil), of.Spans...), Span{ID: sampledSpan | uint64(of.ID), Tokens: own})
	}
	return r
}
