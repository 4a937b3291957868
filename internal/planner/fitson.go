package planner

import (
	"fmt"
	"sort"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/planner/change"
	"github.com/memwall/memwall/internal/question"
)

// Offered are devices to name when no hardware is given: common ones, small to large.
var Offered = []string{
	"rtx-3060-12gb", "rtx-4060-ti-16gb", "rtx-3090", "rtx-4090", "rtx-5090", "l4", "l40s", "rtx-pro-6000", "a100-sxm-80gb", "h100-sxm-80gb", "h200-sxm", "mi300x", "b200-sxm", "m4-max", "m3-ultra-80-core-512gb",
}

var offeredCounts = []int{1, 2, 4, 8}

// fitsOn gives the smallest machines that hold the plan, least memory first.
func fitsOn(q *question.Question) []api.FitsOn {
	var out []api.FitsOn
	for _, id := range Offered {
		for _, n := range offeredCounts {
			if f, ok := tryOn(q, id, n); ok {
				out = append(out, f)
				break
			}
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return int64(out[i].Usable)*out[i].Devices < int64(out[j].Usable)*out[j].Devices })
	return out[:min(len(out), 4)]
}

// sizeOf is " 512 GB" of a device that is sold with several memories.
func sizeOf(d *hardware.Device) string {
	if len(d.Options) < 2 {
		return ""
	}
	return fmt.Sprintf(" %d GB", int64(d.Memory.Value)>>30)
}

func tryOn(q *question.Question, id string, n int) (api.FitsOn, bool) {
	m, _, err := hardware.Parse(id, n)
	if err != nil {
		return api.FitsOn{}, false
	}
	p := q.BeforeDefaults()
	job := &engine.Job{Model: q.Job.Model, Weights: q.Job.Weights, Machine: &m, Plan: &p.Plan, Version: q.Job.Version, Draft: q.Job.Draft}
	q.Engine.Defaults(job)
	spread := p.Ranks() >= int64(n) || engine.ReadsGGUF(q.Engine)
	if q.Engine.Check(job) != nil || !spread {
		return api.FitsOn{}, false
	}
	s, err := q.Engine.Sizer(job)
	if err != nil {
		return api.FitsOn{}, false
	}
	ranks := s.Size(nil, job.Load())
	question.DecidingFirst(ranks)
	if question.WorstVerdict(ranks) != api.Fits || p.DP > 1 {
		return api.FitsOn{}, false
	}
	return api.FitsOn{Hardware: change.HardwareName(n, id), Name: ranks[0].Name + sizeOf(&m.Groups[0].Device), Devices: int64(n), Usable: ranks[0].Usable.Bytes(), Needed: ranks[0].Needed().Bytes}, true
}
