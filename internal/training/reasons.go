package training

import (
	"fmt"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/planner/change"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// reasons close the answer: what limits the plan, what scales it, what breaks it first.
func (t *Training) reasons(a *api.Answer) *api.Reasons {
	d := &a.Devices[0]
	out := &api.Reasons{}
	var largest *api.Item
	for i := range d.Ledger {
		if it := &d.Ledger[i]; it.Place == ledger.Device && (largest == nil || it.Bytes > largest.Bytes) {
			largest = it
		}
	}
	if largest != nil && d.Usable > 0 {
		out.Limits = fmt.Sprintf("%s: %s of %s GiB, at %s", largest.Name, unit.Fixed(largest.Bytes.GiB(), 1), unit.Fixed(d.Usable.GiB(), 1),
			a.PerDevice.When())
	}
	now := int64(t.Question.Request.SequenceLength)
	if longer, ok := t.needs(2 * now); ok && now > 0 {
		if per := (longer - d.Needed) / unit.Bytes(now*max(1, int64(t.Question.Request.MicroBatch))); per > 0 {
			out.Scales = fmt.Sprintf("%s for each token of a micro-batch", per)
		}
	}
	out.Breaks = t.breaks(d)
	return out
}

// needs is what the worst rank needs with sequences of another length; false where the plan is refused.
func (t *Training) needs(length int64) (unit.Bytes, bool) {
	r := t.Question.Original
	r.SequenceLength, r.Explain = plan.Int(length), false
	other, err := Trained(change.SameModelEnv(t.Question), &r)
	if err != nil {
		return 0, false
	}
	ranks := other.Sizer.Size(nil)
	worst := other.EngineRank(&ranks[0])
	return worst.Needed().Bytes, true
}

// longestSample bounds the search for the longest sequence.
const longestSample = 1 << 24

// breaks is the longest sequence that one device still holds, of those that context groups can cut: each rank takes two parts.
func (t *Training) breaks(d *api.Device) string {
	if d.Usable == 0 {
		return ""
	}
	grain := int64(1)
	if cp := t.Job.Plan.CP; cp > 1 {
		grain = 2 * cp
	}
	n, bounded := question.LargestWithRoom(longestSample/grain, func(n int64) unit.Bytes {
		if need, ok := t.needs(n * grain); ok {
			return d.Usable - need
		}
		return -1
	})
	switch {
	case !bounded:
		return "nothing in reach"
	case n == 0:
		return "before the first token"
	}
	return fmt.Sprintf("beyond sequences of %s tokens", unit.Count(n*grain))
}
