// Package workload is who asks a server for what, and when: arrivals, lengths, sessions, prefixes that prompts have in
// common, patience. A workload is described (Spec) and generated from a seed, or read from a trace. All of it streams: a
// workload of a billion requests takes no more memory than one of ten.
//
// Open request.go for what a request is, spec.go for what can be described.
package workload

import "time"

// Request is one call of a server.
type Request struct {
	ID      int64         // number in order of making, from 0
	Arrival time.Duration // since the beginning of the workload
	Prompt  int64         // tokens of the prompt, at least 1
	Output  int64         // tokens that will be generated, at least 1
	// Spans are what the prompt begins with, where others may begin with the same; the rest is unlike any other's. Not to be
	// written to.
	Spans []Span
	// Own names what the request adds to its spans (the rest of its prompt, then its output), so that
	// a later one can begin with it; 0: nobody will.
	Own      uint64
	Priority int32         // lower is served first
	Adapter  uint32        // LoRA adapter; 0 none
	Patience time.Duration // after which the client hangs up; 0 never
	User     uint64        // session or client, for routers that keep them together; 0 unknown
}

// Span are tokens that are alike wherever the same spans came before them: (everything before, ID) names the content.
type Span struct {
	ID     uint64
	Tokens int64
}

// Shared is how many tokens of the prompt its spans cover.
func (r *Request) Shared() (n int64) {
	for _, s := range r.Spans {
		n += s.Tokens
	}
	return n
}

// Source makes requests.
type Source interface {
	// Next gives the next request that comes by itself, in order of arrival; false at the end.
	Next() (Request, bool, error)
	// After gives what the user of a request that ended at a time asks next, if that is decided by its end (closed loops,
	// further turns of a session). It is asked once for each request, however it ended.
	After(done *Request, at time.Duration) (Request, bool)
}

// Several is a source of which one end brings several requests: Rest gives those beyond the one that After gave.
type Several interface {
	Rest() (Request, bool)
}
