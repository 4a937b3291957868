package memwall

import (
	"sort"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
)

// offered are devices to name when no hardware is given: common ones, small to large.
var offered = []string{
	"rtx-3060-12gb", "rtx-4060-ti-16gb", "rtx-3090", "rtx-4090", "rtx-5090", "l4", "l40s", "rtx-pro-6000", "a100-sxm-80gb", "h100-sxm-80gb", "h200-sxm", "mi300x", "b200-sxm", "m4-max",
}

var offeredCounts = []int{1, 2, 4, 8}

// fitsOn gives the smallest machines that hold the plan, least memory first.
func (q *question) fitsOn() []FitsOn {
	var out []FitsOn
	for _, id := range offered {
		for _, n := range offeredCounts {
			if f, ok := q.tryOn(id, n); ok {
				out = append(out, f)
				break
			}
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return int64(out[i].Usable)*out[i].Devices < int64(out[j].Usable)*out[j].Devices })
	return out[:min(len(out), 4)]
}

func (q *question) tryOn(id string, n int) (FitsOn, bool) {
	m, _, err := hardware.Parse(id, n)
	if err != nil {
		return FitsOn{}, false
	}
	p := q.given()
	job := &engine.Job{Model: q.job.Model, Weights: q.job.Weights, Machine: &m, Plan: &p.Plan, Version: q.job.Version, Draft: q.job.Draft}
	q.engine.Defaults(job)
	spread := p.Ranks() >= int64(n) || engine.ReadsGGUF(q.engine)
	if q.engine.Check(job) != nil || !spread {
		return FitsOn{}, false
	}
	s, err := q.engine.Sizer(job)
	if err != nil {
		return FitsOn{}, false
	}
	ranks := s.Size(nil, job.Load())
	decidingFirst(ranks)
	if worst(ranks) != Fits || p.DP > 1 {
		return FitsOn{}, false
	}
	return FitsOn{Hardware: m.Name, Name: ranks[0].Name, Devices: int64(n), Usable: ranks[0].Usable.Bytes(), Needed: ranks[0].Needed().Bytes}, true
}
