// Package workload describes who asks a server for what, and when: arrivals, lengths, sessions, shared prefixes,
// patience. A workload is generated from a description (Spec) and a seed, or read from a trace. Everything streams: a
// workload of a billion requests takes no more memory than one of ten.
//
// See request.go for what a request is, spec.go for what can be described.
package workload

import "time"

// Request is one request to a server.
type Request struct {
	ID      int64         // sequence number, from 0
	Arrival time.Duration // since the start of the workload
	Prompt  int64         // prompt tokens, at least 1
	Output  int64         // tokens to generate, at least 1
	// Spans are the beginning of the prompt that others may share; the rest is unique. Must not be modified.
	Spans []Span
	// Own names what the request adds to its spans (the rest of its prompt, then its output), for later requests to
	// begin with; 0 if none will.
	Own      uint64
	Priority int32         // lower is served first
	Adapter  uint32        // LoRA adapter; 0 for none
	Patience time.Duration // until the client disconnects; 0 for never
	User     uint64        // session or client, for sticky routers; 0 if unknown
}

// Span is a run of tokens, equal wherever the preceding spans are equal: (everything before, ID) identifies the
// content.
type Span struct {
	ID     uint64
	Tokens int64
}

// Shared returns the prompt tokens covered by its spans.
func (r *Request) Shared() (n int64) {
	for _, s := range r.Spans {
		n += s.Tokens
	}
	return n
}

// Source produces requests.
type Source interface {
	// Next returns the next independent request, in order of arrival; false at the end.
	Next() (Request, bool, error)
	// After returns the follow-up of a completed request, if its time depends on the completion (closed loops, further
	// turns of a session). It is called once per request, whatever its outcome.
	After(done *Request, at time.Duration) (Request, bool)
}

// Several is a source that may return several follow-ups for one completion: Rest returns those beyond the one from
// After.
type Several interface {
	Rest() (Request, bool)
}
