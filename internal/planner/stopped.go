package planner

import (
	"context"

	"github.com/memwall/memwall/api"
)

// A question whose deadline has passed, or whose caller has gone, is answered with what is known by then.

// NoteStopped notes in an answer that its context ended before the search did.
func NoteStopped(ctx context.Context, out *api.Answer) *api.Answer {
	if ctx.Err() != nil {
		out.Notes = append(out.Notes, api.Note{Code: "stopped", Severity: "warn",
			Text: "the search was stopped: this is what was found by then"})
	}
	return out
}
