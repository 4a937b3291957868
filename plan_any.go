package memwall

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// onAny answers which hardware runs a model, where none was named: for each kind of device the fewest that hold the
// plan, least memory first.
func (p *planner) onAny(ctx context.Context, out *Answer) (*Answer, error) {
	for _, id := range offered {
		for _, n := range offeredCounts {
			if err := ctx.Err(); err != nil {
				return out, err
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
	slices.SortStableFunc(out.Candidates, func(a, b Candidate) int { return cmp.Compare(a.Capacity, b.Capacity) })
	out.Evaluated = &p.evaluated
	if len(out.Candidates) > 0 {
		out.Best = &out.Candidates[0]
	}
	return out, nil
}

// manyOf names so many of a device.
func manyOf(n int, id string) string {
	if n == 1 {
		return id
	}
	return fmt.Sprintf("%dx%s", n, id)
}
