package planner

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/planner/change"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/stable"
)

// Offered are the devices to suggest if no hardware is given: common ones, small to large.
var Offered = []string{
	"rtx-3060-12gb", "rtx-4060-ti-16gb", "rtx-3090", "rtx-4090", "rtx-5090", "l4", "l40s", "rtx-pro-6000", "a100-sxm-80gb", "h100-sxm-80gb",
	"h200-sxm", "mi300x", "b200-sxm", "m4-max", "m3-ultra-80-core-256gb",
	"m3-ultra-80-core-512gb",
}

// smallerMacs are suggested to owners of unified-memory computers: less than the largest of a line suffices for most
// models.
var smallerMacs = []string{"m4-16gb", "m4-24gb", "m4-32gb", "m4-pro-48gb", "m4-pro-64gb"}

var offeredCounts = []int{1, 2, 4, 8}

// fitsOn returns the smallest machines that hold the plan: the same device with more memory, then others of its class,
// least memory first.
func fitsOn(q *question.Question) []api.FitsOn {
	var out []api.FitsOn
	kin := map[string]int{}
	add := func(id string, counts []int, distance int) {
		for _, n := range counts {
			if d, _, err := q.Env.Find(id, 1); err != nil || n > mostBought(q, &d.Groups[0].Device) {
				break
			}
			if f, ok := tryOn(q, id, n); ok && kin[f.Hardware] == 0 {
				kin[f.Hardware] = distance
				out = append(out, f)
				break
			}
		}
	}
	has := q.Job.Device(0)
	for _, id := range largerMemories(has) {
		add(id, offeredCounts[:1], 1)
	}
	if has != nil && has.Unified != nil {
		for _, id := range smallerMacs {
			add(id, offeredCounts[:1], 2)
		}
	}
	for _, id := range Offered {
		if d, _, err := q.Env.Find(id, 1); err == nil {
			add(id, offeredCounts, 2+classesApart(has, &d.Groups[0].Device))
		}
	}
	stable.Sort(out, func(a, b api.FitsOn) int {
		return cmp.Or(cmp.Compare(kin[a.Hardware], kin[b.Hardware]), cmp.Compare(int64(a.Usable)*a.Devices, int64(b.Usable)*b.Devices))
	})
	return out[:min(len(out), 4)]
}

// mostBought returns the most devices of a kind that people would buy to run one model: two PC cards for a single
// user's program, and a larger computer rather than two with unified memory.
func mostBought(q *question.Question, d *hardware.Device) int {
	switch {
	case d.Unified != nil:
		return 1
	case d.Consumer() && engine.ReadsGGUF(q.Engine):
		return 2
	}
	return mostOf(d)
}

// classesApart returns how far two devices are from being alternatives: a unified-memory computer, a PC card, a server
// card.
func classesApart(a, b *hardware.Device) int {
	if a == nil {
		return 0
	}
	class := func(d *hardware.Device) int {
		switch {
		case d.Unified != nil:
			return 0
		case d.Consumer():
			return 1
		}
		return 2
	}
	apart := class(a) - class(b)
	return max(apart, -apart)
}

// largerMemories returns the ids of a device in the larger memory sizes it is sold with.
func largerMemories(d *hardware.Device) (ids []string) {
	if d == nil {
		return nil
	}
	whole := strings.TrimSuffix(d.ID, fmt.Sprintf("-%dgb", int64(d.Memory.Value)>>30))
	for _, size := range d.Options {
		if size > d.Memory.Value {
			ids = append(ids, fmt.Sprintf("%s-%dgb", whole, int64(size)>>30))
		}
	}
	return ids
}

// sizeOf returns " 512 GB" for a device sold with several memory sizes.
func sizeOf(d *hardware.Device) string {
	if len(d.Options) < 2 {
		return ""
	}
	return fmt.Sprintf(" %d GB", int64(d.Memory.Value)>>30)
}

func tryOn(q *question.Question, id string, n int) (api.FitsOn, bool) {
	m, _, err := q.Env.Find(id, n)
	if err != nil {
		return api.FitsOn{}, false
	}
	p := q.BeforeDefaults()
	job := &engine.Job{Model: q.Job.Model, Weights: q.Job.Weights, Machine: &m, Plan: &p.Plan,
		Version: q.Job.Version, Draft: q.Job.Draft, Shared: q.Job.Shared, Silent: true}
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
	there := *q
	there.Job = job
	hostHolds := question.UnifiedPool(&m) > 0 || question.HostNeeds(there.Job, ranks).Bytes <= question.SpareHost(&m)
	if there.Verdict(ranks) != api.Fits || !hostHolds || p.DP > 1 {
		return api.FitsOn{}, false
	}
	return api.FitsOn{Hardware: change.HardwareName(n, id), Name: ranks[0].Name + sizeOf(&m.Groups[0].Device), Devices: int64(n),
		Usable: ranks[0].Usable.Bytes(), Needed: ranks[0].Needed().Bytes}, true
}
