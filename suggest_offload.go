package memwall

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/engine/llamacpp"
)

// Changes that move bytes from the device to the host: they cost speed and no quality.

func (q *question) offloadChanges(*Answer) (out []change) {
	e, ok := q.engine.(llamacpp.Engine)
	if !ok || q.job.Machine == nil || q.job.Machine.CPUOnly {
		return nil
	}
	if c, ok := q.bestPlacement(e); ok {
		out = append(out, c)
	}
	if e.Fits(q.job) && q.request.Fit != "on" {
		out = append(out, change{"as llama.cpp's own --fit places it", map[string]any{"fit": "on"}})
	}
	return out
}

// bestPlacement leaves the host as little to read as the devices allow.
func (q *question) bestPlacement(e llamacpp.Engine) (change, bool) {
	asked, j := q.given(), *q.job
	open := asked.Context == 0 && asked.ContextTotal == 0 // --fit chose a context
	if open {
		asked.ContextTotal = q.request.ContextTotal
	}
	j.Plan, j.Notes = &asked.Plan, nil
	best, err := e.Best(&j, llamacpp.RoomOf(q.job))
	if err != nil {
		return change{}, false
	}
	if open {
		best.Patch["context_total"] = int64(asked.ContextTotal)
	}
	return change{placed(best), best.Patch}, true
}

// placed says a placement in words.
func placed(p *llamacpp.Placement) string {
	var words []string
	if p.Layers < p.All {
		words = append(words, fmt.Sprintf("%d of %d layers on the device", p.Layers, p.All))
	}
	if p.Hosted > 0 {
		words = append(words, fmt.Sprintf("experts of %d layers on the host", p.Hosted))
	}
	if len(words) == 0 {
		return "layers shared by what devices hold"
	}
	return strings.Join(words, ", ")
}
