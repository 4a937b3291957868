package planner

import (
	"cmp"
	"context"
	"math"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/planner/change"
	"github.com/memwall/memwall/internal/stable"
)

// onAny answers which hardware runs a model if none is named: for each kind of device the smallest number that holds
// the plan.
func (p *Planner) onAny(ctx context.Context, out *api.Answer) (*api.Answer, error) {
	for i, id := range Offered {
		p.reportProgress(api.PhaseSearch, i, len(Offered), 0, 0, out.Candidates)
		if err := ctx.Err(); err != nil && len(out.Candidates) == 0 {
			return nil, err
		} else if err != nil {
			break
		}
		counts := offeredCounts
		if c, n, ok := fewest(p, id, "", counts); ok {
			out.Candidates = append(out.Candidates, c)
			counts = offeredCounts[:n]
		}
		if p.Asked.Weights != "" || !multipliesFP8(id) {
			continue
		}
		if c, _, ok := fewest(p, id, "fp8", counts); ok {
			out.Candidates = append(out.Candidates, c)
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

// fewest returns the plan on the smallest number of devices of a kind that hold it, and the index of that number.
// Unless weights are given, they are in the format that suits the device, or in the one named.
func fewest(p *Planner, id, weights string, counts []int) (c api.Candidate, at int, ok bool) {
	for at, n := range counts {
		r := p.Asked
		r.Hardware, r.Devices = id, int64(n)
		if weights != "" {
			r.Weights = weights
		}
		if c, ok := p.candidate(&r, change.HardwareName(n, id)); ok && c.Verdict == api.Fits {
			return c, at, true
		}
	}
	return api.Candidate{}, 0, false
}

// multipliesFP8 reports whether a device has FP8 matmuls, which people use if halving the memory, at no noticeable
// loss, saves a device.
func multipliesFP8(id string) bool {
	d, _, err := hardware.Find(id)
	return err == nil && d.Peaks.FP8.Known
}

// rank sorts hardware by the request's objective, memory by default. Hardware slower than reading speed comes last.
func (p *Planner) rank(found []api.Candidate) {
	stable.Sort(found, func(a, b api.Candidate) int {
		least := cmp.Compare(a.Capacity, b.Capacity)
		switch p.want {
		case "cost":
			least = cmp.Or(cmp.Compare(rentOf(&a), rentOf(&b)), least)
		case "latency":
			return cmp.Or(-cmp.Compare(DecodeOf(a.Speed), DecodeOf(b.Speed)), least)
		case "devices":
			least = cmp.Or(cmp.Compare(a.Plan.Devices, b.Plan.Devices), least)
		}
		return cmp.Or(readable(&b)-readable(&a), least)
	})
}

// readable returns 1 for hardware that generates as fast as people read, or at unknown speed, else 0.
func readable(c *api.Candidate) int {
	if c.Speed == nil || c.Speed.Decode == nil || *c.Speed.Decode >= readAlong {
		return 1
	}
	return 0
}

// rentOf returns the rent of the devices; those without a price sort last.
func rentOf(c *api.Candidate) float64 {
	if c.USDPerHour == nil {
		return math.Inf(1)
	}
	return *c.USDPerHour
}
