package memwall

import (
	"github.com/memwall/memwall/engine/llamacpp"
)

// bestPlacement leaves the host as little to read as the devices allow.
func (q *question) bestPlacement(e llamacpp.Engine) (patch map[string]any, ok bool) {
	asked, j := q.given(), *q.job
	open := asked.Context == 0 && asked.ContextTotal == 0 // --fit chose a context
	if open {
		asked.ContextTotal = q.request.ContextTotal
	}
	j.Plan, j.Notes = &asked.Plan, nil
	best, err := e.Best(&j, llamacpp.RoomOf(q.job))
	if err != nil {
		return nil, false
	}
	if open {
		best.Patch["context_total"] = int64(asked.ContextTotal)
	}
	return best.Patch, true
}
