package memwall

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
)

// onAny answers which hardware runs a model, where none was named: for each kind of device the fewest that hold the
// plan.
func (p *planner) onAny(ctx context.Context, out *Answer) (*Answer, error) {
	for i, id := range offered {
		p.searched(phaseSearch, i, len(offered), 0, 0, out.Candidates)
		for _, n := range offeredCounts {
			if err := ctx.Err(); err != nil && len(out.Candidates) == 0 {
				return nil, err
			} else if err != nil {
				break
			}
			r := p.asked
			r.Hardware, r.Devices = id, int64(n)
			c, ok := p.candidate(&r, manyOf(n, id))
			if !ok || c.Verdict != Fits {
				continue
			}
			out.Candidates = append(out.Candidates, c)
			break
		}
	}
	p.rank(out.Candidates)
	out.Evaluated = &p.evaluated
	if len(out.Candidates) > 0 {
		out.Best = &out.Candidates[0]
	}
	return tellStopped(ctx, out), nil
}

// rank sorts hardware by what the asker wants least of: memory, unless it is something else.
func (p *planner) rank(found []Candidate) {
	slices.SortStableFunc(found, func(a, b Candidate) int {
		least := cmp.Compare(a.Capacity, b.Capacity)
		switch p.want {
		case "cost":
			return cmp.Or(cmp.Compare(rentOf(&a), rentOf(&b)), least)
		case "latency":
			return cmp.Or(-cmp.Compare(decodeOf(a.Speed), decodeOf(b.Speed)), least)
		case "devices":
			return cmp.Or(cmp.Compare(a.Plan.Devices, b.Plan.Devices), least)
		}
		return least
	})
}

// rentOf is what the devices rent for; those without a price come last.
func rentOf(c *Candidate) float64 {
	if c.USDPerHour == nil {
		return math.Inf(1)
	}
	return *c.USDPerHour
}

// manyOf names so many of a device.
func manyOf(n int, id string) string {
	if n == 1 {
		return id
	}
	return fmt.Sprintf("%dx%s", n, id)
}
