// Package timing predicts how fast a sized question runs: tokens and requests a second with bands, energy and cost,
// rooflines, and the outlook of a plan with known limits and speed.
package timing

import (
	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/speed/serving"
)

// Size answers a fit request with ledgers, verdict and figures only, omitting what-ifs and suggestions, for searches
// and scoreboards.
func Size(a *question.Env, r *api.Request) (*api.Answer, error) {
	q, ranks, err := a.SizedRanks(r)
	if err != nil {
		return nil, api.AsError(err)
	}
	return SizedAnswer(q, ranks), nil
}

// SizedAnswer converts ledgers to the part of an Answer that follows from them.
func SizedAnswer(q *question.Question, ranks []engine.Rank) *api.Answer {
	question.DecidingFirst(ranks)
	a := &api.Answer{Model: question.ModelInfo(q.Resolved, q.Job), Plan: q.Plan(), Verdict: q.Verdict(ranks)}
	if q.Request.Explain {
		q.Explain = &question.Explainer{Book: q.Book, Out: map[string]api.Explain{}}
	}
	for i := range ranks {
		a.Devices = append(a.Devices, q.Device(q.Explain, i, &ranks[i]))
	}
	q.Prompting(a)
	a.Host = q.Host(q.Explain, ranks)
	a.Disk = q.Elsewhere(q.Explain, "/disk/ledger", ranks, question.OnDisk)
	a.Pool = q.Elsewhere(q.Explain, "/pool/ledger", ranks, question.InPool)
	a.KV = question.KV(&ranks[0].KV)
	a.Prints = question.Prints(&ranks[0])
	a.Speed = Speed(q, a.KV)
	return a
}

// Outlook adds what the plan could hold: limits, other contexts, reasons.
func Outlook(q *question.Question, a *api.Answer, ranks []engine.Rank) {
	p := &q.Request.Plan
	load := q.Job.Load()
	a.KV.MaxSequences = q.MaxSequences(load.Context)
	a.KV.MaxContext = q.MaxContext(load.Sequences)
	a.KV.Pictures = q.Job.Model.Part(model.PartDenoiser) != nil
	if m := q.Job.Model; !a.KV.Pictures && (a.KV.MaxContext == nil || question.Encodes(m)) {
		a.Notes = append(a.Notes, question.Unbounded(m))
	}
	if nothing := a.KV.MaxContext == nil && a.KV.MaxSequences == nil && a.KV.NeededBytes == 0; !nothing && !a.KV.Pictures {
		q.Rungs(a, int64(p.Context))
	}
	a.Reasons = q.Reasons(a, &ranks[0])
}

// pools returns the workers of both kinds; nil if not disaggregated.
func pools(q *question.Question, m *serving.Model) (*serving.Pools, error) {
	if q.Prompter == nil {
		return nil, nil
	}
	in, err := ServingInput(q.Prompter, nil)
	if err != nil {
		return nil, err
	}
	first, err := Compiled(q.Prompter, in)
	if err != nil {
		return nil, err
	}
	return q.Split(first, m), nil
}

// closedLoop predicts the closed loop of a plan, with one kind of worker or two.
func closedLoop(q *question.Question, m *serving.Model, l serving.Load) (serving.Figures, error) {
	p, err := pools(q, m)
	switch {
	case err == nil && p != nil:
		return p.Closed(l), nil
	case q.Brief:
		return m.Mids(l), err
	}
	return m.Closed(l), err
}
