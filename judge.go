package memwall

import (
	"sort"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/unit"
)

// judge gives the verdict on one class of ranks: its needs against what the plan may use.
func judge(r *engine.Rank) Verdict {
	n, usable := r.Needed(), r.Usable.Bytes()
	switch {
	case n.Unknown && (r.Unlimited || n.Bytes <= usable):
		return Unknown
	case r.Unlimited:
		return Unknown
	case n.Bytes > usable:
		return DoesNotFit
	case n.High > usable:
		return Tight
	}
	return Fits
}

var severity = map[Verdict]int{Fits: 0, Tight: 1, Unknown: 2, DoesNotFit: 3}

// worst of the ranks decides.
func worst(ranks []engine.Rank) Verdict {
	v := Fits
	for i := range ranks {
		if w := judge(&ranks[i]); severity[w] > severity[v] {
			v = w
		}
	}
	return v
}

func headroom(r *engine.Rank) unit.Bytes { return r.Usable.Bytes() - r.Needed().Bytes }

// decidingFirst sorts ranks by the room they leave.
func decidingFirst(ranks []engine.Rank) {
	sort.SliceStable(ranks, func(i, j int) bool { return headroom(&ranks[i]) < headroom(&ranks[j]) })
}

// holds reports whether a load fits on every rank by the best estimate.
func (q *question) holds(l engine.Load) bool {
	ranks := q.sizer.Size(nil, l)
	for i := range ranks {
		if !ranks[i].Unlimited && headroom(&ranks[i]) < 0 {
			return false
		}
	}
	return true
}

// most finds the largest n from 0 to limit for which ok holds; ok must not come back once it failed.
func most(limit int64, ok func(int64) bool) (n int64, bounded bool) {
	if !ok(1) {
		return 0, true
	}
	lo, hi := int64(1), int64(2)
	for hi <= limit && ok(hi) {
		lo, hi = hi, hi*2
	}
	if hi > limit {
		if ok(limit) {
			return limit, false
		}
		hi = limit
	}
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; ok(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo, true
}

const (
	searchContext   = 1 << 28
	searchSequences = 1 << 20
)

// maxSequences is how many sequences of the context one replica holds, at most as many as the engine serves;
// nil when nothing bounds them.
func (q *question) maxSequences(context int64) *int64 {
	limit, limited := engine.MaxSequences(q.engine, q.job)
	if limited = limited && limit < searchSequences; !limited {
		limit = searchSequences
	}
	n, bounded := most(limit, func(n int64) bool { return q.holds(engine.Load{Context: context, Sequences: n}) })
	if !bounded && !limited {
		return nil
	}
	n *= max(1, q.request.DP)
	return &n
}

// maxContext is the longest context that as many sequences can have; nil when nothing bounds it.
func (q *question) maxContext(sequences int64) *int64 {
	n, bounded := most(searchContext, func(n int64) bool { return q.holds(engine.Load{Context: n, Sequences: sequences}) })
	if !bounded {
		return nil
	}
	return &n
}
