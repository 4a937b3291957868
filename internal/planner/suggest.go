package planner

import (
	"slices"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/planner/change"
	"github.com/memwall/memwall/internal/question"
)

// worthSaying is the speed ratio from which a change to a plan that fits is suggested unasked.
const worthSaying = 1.5

// suggest tries single changes to a plan that does not certainly fit and returns those that help, cheapest first: changes that make
// it fit, and for a plan slowed by weights that the engine left on the host, changes that make it much faster.
func suggest(q *question.Question, a *api.Answer) []api.Suggestion {
	if a.Verdict == api.Unknown || len(a.Devices) == 0 {
		return nil
	}
	p := PlannerNear(q, a)
	if a.Verdict == api.Fits && !spillsSlowly(p, a) {
		return nil
	}
	all := p.Ladder(nil)
	if a.Verdict == api.Fits {
		all = slices.DeleteFunc(all, func(c api.Candidate) bool { return c.SpeedRatio == nil || *c.SpeedRatio < worthSaying })
	}
	var out []api.Suggestion
	for _, c := range all[:min(len(all), change.MaxSuggestions)] {
		out = append(out, api.Suggestion{Change: c.Change, Patch: c.Patch, Saves: c.Saves, Verdict: c.Verdict, Speed: c.SpeedRatio,
			Quality: c.Quality, Decode: decodeRate(c.Speed), Slow: c.Slow, Flags: c.Flags})
	}
	return out
}

// PlannerNear returns a search for plans near the question's.
func PlannerNear(q *question.Question, a *api.Answer) *Planner {
	p := &Planner{env: change.SameModelEnv(q).Silently(),
		Asked: q.Original, Question: q, base: a, Order: q.Env.Order(q), twice: change.PriceOfDoubling[""],
		brief: true}
	p.Asked.Explain = false
	if a.Host != nil {
		p.onHost = a.Host.Needed
	}
	return p
}

// decodeRate returns the decode rate of one user in tokens per second; nil if unknown.
func decodeRate(v *api.Speed) *float64 {
	if v == nil {
		return nil
	}
	return v.Decode
}
