package planner

import (
	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// leastHosted returns the smallest cpu_offload_bytes, in whole GiB, with which the plan certainly fits; false if there
// is none, if it fits without, and for engines without offloading.
func leastHosted(q *question.Question) (plan.Size, bool) {
	if !api.FieldByName("cpu_offload_bytes").OwnedBy(q.Engine.Name()) || q.Job.Machine == nil {
		return 0, false
	}
	moved := unit.Bytes(q.Request.CPUOffload)
	const trials = 4 // the copy of a layer, and whole parameters, may require more once or twice
	for range trials {
		ranks, err := withHosted(q, moved)
		if err != nil {
			return 0, false
		}
		short := shortage(ranks)
		if short <= 0 {
			return plan.Size(lessHosted(q, moved)), q.Verdict(ranks) == api.Fits && moved > unit.Bytes(q.Request.CPUOffload)
		}
		moved = unit.Bytes(unit.PadUp(int64(moved+short), int64(unit.GiB)))
	}
	return 0, false
}

// lessHosted returns a GiB less if that suffices: engines move whole parameters, and so more than requested.
func lessHosted(q *question.Question, moved unit.Bytes) unit.Bytes {
	less := moved - unit.GiB
	if less <= unit.Bytes(q.Request.CPUOffload) {
		return moved
	}
	if ranks, err := withHosted(q, less); err != nil || shortage(ranks) > 0 || q.Verdict(ranks) != api.Fits {
		return moved
	}
	return less
}

// withHosted sizes the plan with n bytes of weights on the host.
func withHosted(q *question.Question, n unit.Bytes) ([]engine.Rank, error) {
	j, p := *q.Job, q.Request.Plan
	p.CPUOffload = plan.Size(n)
	j.Plan, j.Notes = &p, nil
	s, err := q.Engine.Sizer(&j)
	if err != nil {
		return nil, err
	}
	return s.Size(nil, j.Load()), nil
}

// shortage returns what the worst rank lacks at the high edge of its needs; 0 if none lacks any.
func shortage(ranks []engine.Rank) (most unit.Bytes) {
	for i := range ranks {
		most = max(most, ranks[i].Needed().High-ranks[i].Usable.Bytes())
	}
	return most
}
