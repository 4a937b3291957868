package memwall

import (
	"fmt"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// reasons close the answer: what limits the plan, what scales it, what breaks it first.
func (t *training) reasons(a *Answer) *Reasons {
	d := &a.Devices[0]
	out := &Reasons{}
	var largest *Item
	for i := range d.Ledger {
		if it := &d.Ledger[i]; it.Place == ledger.Device && (largest == nil || it.Bytes > largest.Bytes) {
			largest = it
		}
	}
	if largest != nil && d.Usable > 0 {
		out.Limits = fmt.Sprintf("%s: %s of %s GiB, at %s", largest.Name, unit.Fixed(largest.Bytes.GiB(), 1), unit.Fixed(d.Usable.GiB(), 1), a.PerDevice.PeakPhase)
	}
	now := int64(t.q.request.SequenceLength)
	if longer, ok := t.needs(2 * now); ok && now > 0 {
		per := (longer - d.Needed) / unit.Bytes(now*max(1, int64(t.q.request.MicroBatch)))
		out.Scales = fmt.Sprintf("%s for each token of a micro-batch", per)
	}
	out.Breaks = t.breaks(d)
	return out
}

// needs is what the worst rank needs with sequences of another length; false where the plan is refused.
func (t *training) needs(length int64) (unit.Bytes, bool) {
	r := t.q.original
	r.SequenceLength, r.Explain = plan.Int(length), false
	other, err := t.q.again().trained(&r)
	if err != nil {
		return 0, false
	}
	ranks := other.sizer.Size(nil)
	worst := other.rank(&ranks[0])
	return worst.Needed().Bytes, true
}

// longestSample bounds the search for the longest sequence.
const longestSample = 1 << 24

// breaks is the longest sequence that one device still holds.
func (t *training) breaks(d *Device) string {
	if d.Usable == 0 {
		return ""
	}
	n, bounded := most(longestSample, func(n int64) unit.Bytes {
		if need, ok := t.needs(n); ok {
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
	return fmt.Sprintf("beyond sequences of %s tokens", unit.Count(n))
}
