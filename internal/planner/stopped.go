package planner

import (
	"context"

	"github.com/memwall/memwall/api"
)

// A question whose time is over, or for which nobody waits any longer, is answered with what is known by then.

// NoteStopped says in an answer that its context ended before the search did.
func NoteStopped(ctx context.Context, out *api.Answer) *api.Answer {
	if ctx.Err() != nil {
		out.Notes = append(out.Notes, api.Note{Code: "stopped", Severity: "warn",
			Text: "the search was stopped: this is what was found by then"})
	}
	return out
}
