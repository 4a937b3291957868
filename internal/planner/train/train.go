// Package train searches for plans of a training run: machines, frameworks and parallel groups, the best by time, cost
// or devices, with reasons.
//
// A plan is a machine, a number of them, a framework, parallel groups, micro-batches and recomputation. Given fields
// are pinned, absent ones are searched, and lists are sets to search. Plan lists the phases, each a function of the
// previous one's result: the task (task.go, lists.go); the space (space.go: machines in sites.go, what all plans share,
// contradictions in pins.go); the plans that fit (walk.go along axes.go: each is sized first, and timed only if it
// fits; kept.go keeps the best, refused.go records why others fail); and the answer with its reasons (answer.go,
// why.go, surprise.go, remarks.go).
package train

import (
	"context"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/planner"
	"github.com/memwall/memwall/internal/question"
)

// Plan searches for plans of a training run.
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
	out := f.answer(f.kept.ranked())
	out.Notes = append(out.Notes, f.lighter(ctx)...)
	return planner.NoteStopped(ctx, out), nil
}
