package planner

import (
	"github.com/memwall/memwall/engine/llamacpp"
	"github.com/memwall/memwall/internal/question"
)

// bestPlacement returns the placement with which the least is read from the host.
func bestPlacement(q *question.Question, e llamacpp.Engine) (patch map[string]any, ok bool) {
	asked, j := q.BeforeDefaults(), *q.Job
	open := asked.Context == 0 && asked.ContextTotal == 0 // --fit chose a context
	if open {
		asked.ContextTotal = q.Request.ContextTotal
	}
	j.Plan, j.Notes = &asked.Plan, nil
	best, err := e.Best(&j, llamacpp.RoomOf(q.Job))
	if err != nil {
		return nil, false
	}
	if open {
		best.Patch["context_total"] = int64(asked.ContextTotal)
	}
	return best.Patch, true
}
