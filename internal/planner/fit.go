package planner

import (
	"slices"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/timing"
	"github.com/memwall/memwall/ledger"
)

// Fit answers whether a model fits: resolve, fill in defaults, check, size, judge.
func Fit(a *question.Env, r *api.Request) (*api.Answer, error) {
	q, err := a.Remembering().Prepare(r) // formats are tried before one is chosen, changes afterwards
	if err != nil {
		return nil, err
	}
	q.Book = &ledger.Book{}
	ranks, err := q.Ledgers()
	if err != nil {
		return nil, err
	}
	return Answer(q, ranks)
}

// Answer adds what the plan could hold, what would help, and how to run it.
func Answer(q *question.Question, ranks []engine.Rank) (*api.Answer, error) {
	a := timing.SizedAnswer(q, ranks)
	if !ranks[0].Unlimited && q.Resolved.UnknownArch == "" {
		timing.Outlook(q, a, ranks)
	}
	if ranks[0].Unlimited && q.Job.Machine == nil { // a host alone with unknown memory: devices would not answer the question
		a.FitsOn = fitsOn(q)
	}
	a.Suggestions = suggest(q, a)
	if mends := func(s api.Suggestion) bool { return !s.Slow && (s.Verdict == api.Fits || s.Verdict == api.Tight) }; a.Verdict ==
		api.DoesNotFit && !slices.ContainsFunc(a.Suggestions, mends) {
		a.FitsOn = fitsOn(q)
	}
	a.Siblings = siblings(q, a)
	a.Flags = q.Flags()
	a.Notes = append(a.Notes, q.Notes()...)
	rentLess(q, a)
	if q.Request.Explain {
		timing.ExplainSpeed(q.Explain, a.Speed, timing.Source(a.Speed))
		q.Explain.Rest(a)
		a.Explain = q.Explain.Out
	}
	return a, nil
}
