package memwall

import "context"

// A question whose time is over, or for which nobody waits any longer, is answered with what is known by then.

// tellStopped says in an answer that its context ended before the search did.
func tellStopped(ctx context.Context, out *Answer) *Answer {
	if ctx.Err() != nil {
		out.Notes = append(out.Notes, Note{Code: "stopped", Severity: "warn", Text: "the search was stopped: this is what was found by then"})
	}
	return out
}
