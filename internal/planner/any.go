package planner

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/planner/change"
)

// onAny answers which hardware runs a model, where none was named: for each kind of device the fewest that hold the
// plan.
func (p *Planner) onAny(ctx context.Context, out *api.Answer) (*api.Answer, error) {
	for i, id := range Offered {
		p.reportProgress(api.PhaseSearch, i, len(Offered), 0, 0, out.Candidates)
		for _, n := range offeredCounts {
			if err := ctx.Err(); err != nil && len(out.Candidates) == 0 {
				return nil, err
			} else if err != nil {
				break
			}
			r := p.Asked
			r.Hardware, r.Devices = id, int64(n)
			c, ok := p.candidate(&r, change.HardwareName(n, id))
			if !ok || c.Verdict != api.Fits {
				continue
			}
			out.Candidates = append(out.Candidates, c)
			break
		}
	}
	p.rank(out.Candidates)
	out.Evaluated = &p.evaluated
	if p.want != "" {
		out.Plan.Goal = &api.Goal{Minimize: p.want}
	}
	if len(out.Candidates) > 0 {
		out.Best = &out.Candidates[0]
	}
	return NoteStopped(ctx, out), nil
}

// rank sorts hardware by what the asker wants least of: memory, unless it is something else.
func (p *Planner) rank(found []api.Candidate) {
	slices.SortStableFunc(found, func(a, b api.Candidate) int {
		least := cmp.Compare(a.Capacity, b.Capacity)
		switch p.want {
		case "cost":
			return cmp.Or(cmp.Compare(rentOf(&a), rentOf(&b)), least)
		case "latency":
			return cmp.Or(-cmp.Compare(DecodeOf(a.Speed), DecodeOf(b.Speed)), least)
		case "devices":
			return cmp.Or(cmp.Compare(a.Plan.Devices, b.Plan.Devices), least)
		}
		return least
	})
}

// rentOf is what the devices rent for; those without a price come last.
func rentOf(c *api.Candidate) float64 {
	if c.USDPerHour == nil {
		return math.Inf(1)
	}
	return *c.USDPerHour
}
