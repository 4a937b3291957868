// Package train searches the plans of a training run: machines, frameworks and groups of ranks, the best by time, cost
// or devices, with reasons.
//
// A plan is a machine, how many of it, a framework, how ranks share the model, micro-batches and recomputation. What is
// given is pinned, what is absent is searched, a list is a set to search. Plan lists the phases, each a function of what
// the one before found: what is asked (task.go, lists.go), the space to search (space.go: machines in sites.go, what all
// plans share, contradictions in pins.go), the plans that fit (walk.go along axes.go: each is sized first, and timed only
// where it fits; kept.go keeps the best, refused.go why others are none), and the answer with its reasons (answer.go,
// why.go, surprise.go, remarks.go).
package train

import (
	"context"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/planner"
	"github.com/memwall/memwall/internal/question"
)

// Plan searches the plans of a training run.
func Plan(ctx context.Context, a *question.Env, r *api.Request) (*api.Answer, error) {
	t, err := readTask(a, r)
	if err != nil {
		return nil, err
	}
	s, err := newSpace(t)
	if err != nil {
		return nil, err
	}
	f, err := tryPlans(ctx, s)
	if err != nil && f.kept.number == 0 {
		return nil, err
	}
	if f.evaluated.Full == 0 {
		return nil, f.refusal()
	}
	return planner.NoteStopped(ctx, f.answer(f.kept.ranked())), nil
}
