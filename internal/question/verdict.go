package question

import (
	"math"
	"sort"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

// judge gives the verdict on one class of ranks: its needs against what the plan may use. Where the limit lies within the band, nobody
// can say that the plan does not run: it is tight.
func judge(r *engine.Rank) api.Verdict {
	n, usable := r.Needed(), r.Usable.Bytes()
	switch {
	case n.Unknown && (r.Unlimited || n.Bytes <= usable):
		return api.Unknown
	case r.Unlimited:
		return api.Unknown
	case n.Low > usable, r.KV.Given && r.KV.Needed > r.KV.Pool:
		return api.DoesNotFit
	case n.High > usable:
		return api.Tight
	}
	return api.Fits
}

var VerdictSeverity = map[api.Verdict]int{api.Fits: 0, api.Tight: 1, api.Unknown: 2, api.DoesNotFit: 3}

// WorstVerdict of the ranks decides.
func WorstVerdict(ranks []engine.Rank) api.Verdict {
	v := api.Fits
	for i := range ranks {
		if w := judge(&ranks[i]); VerdictSeverity[w] > VerdictSeverity[v] {
			v = w
		}
	}
	return v
}

// Headroom is what a rank's needs leave: of what may be used, and of a pool whose size the plan gives.
func Headroom(r *engine.Rank) unit.Bytes {
	left := r.Usable.Bytes() - r.Needed().Bytes
	if r.KV.Given {
		left = min(left, r.KV.Pool-r.KV.Needed)
	}
	return left
}

// Verdict is the worst of all ranks, of the host and of the pool beyond it.
func (q *Question) Verdict(ranks []engine.Rank) api.Verdict {
	v := WorstVerdict(ranks)
	if room, ok := hostRoom(q.Job, ranks); ok {
		needs := HostNeeds(q.Job, ranks)
		v = worse(v, holding(needs, room))
		needs.Low, needs.High = 0, needs.High+systemShare(q.Job.Machine)
		v = worse(v, holding(needs, room))
	}
	if m := q.Job.Machine; m != nil && m.Pool.Capacity.Known {
		v = worse(v, holding(needsOn(q.Job, ranks, InPool), m.Pool.Capacity.Value))
	}
	return v
}

// holding is the verdict on needs in a memory of so many bytes.
func holding(n ledger.Total, room unit.Bytes) api.Verdict {
	switch {
	case n.Low > room:
		return api.DoesNotFit
	case n.High > room:
		return api.Tight
	}
	return api.Fits
}

func worse(a, b api.Verdict) api.Verdict {
	if VerdictSeverity[b] > VerdictSeverity[a] {
		return b
	}
	return a
}

// DecidingFirst sorts ranks by the room they leave.
func DecidingFirst(ranks []engine.Rank) {
	sort.SliceStable(ranks, func(i, j int) bool { return Headroom(&ranks[i]) < Headroom(&ranks[j]) })
}

// RoomLeft is what a load leaves by the best estimate, on the rank or the host where that is least.
func (q *Question) RoomLeft(l engine.Load) unit.Bytes {
	ranks := q.Sizes(l)
	least := unit.Bytes(math.MaxInt64)
	for i := range ranks {
		if !ranks[i].Unlimited {
			least = min(least, Headroom(&ranks[i]))
		}
	}
	if host, known := hostRoom(q.Job, ranks); known {
		least = min(least, host-HostNeeds(q.Job, ranks).Bytes)
	}
	return least
}

// LargestWithRoom finds the largest n from 0 to limit that leaves room; room must not come back once it is gone.
func LargestWithRoom(limit int64, room func(int64) unit.Bytes) (n int64, bounded bool) {
	b := bracket{lo: 1, atLo: float64(room(1))}
	if b.atLo < 0 {
		return 0, true
	}
	for b.hi == 0 {
		if b.lo == limit {
			return limit, false
		}
		b.put(min(b.beyond(), limit), room)
	}
	for i := 1; b.hi-b.lo > 1; i++ {
		mid := b.crossing()
		if i%3 == 0 {
			mid = b.lo + (b.hi-b.lo)/2
		}
		b.put(mid, room)
	}
	return b.lo, true
}

// bracket closes in on the last n that leaves room: lo does, hi (once it is known) does not. Needs are
// nearly linear in n, in steps of pages and paddings, so that a straight line finds the place in a few
// trials.
type bracket struct {
	lo, hi     int64
	atLo, atHi float64 // room there, in bytes
	last, at   float64 // the trial before lo, and the room there
	failed     bool    // the last trial left no room
}

func (b *bracket) put(n int64, room func(int64) unit.Bytes) {
	r := float64(room(n))
	if r < 0 {
		if b.hi, b.atHi = n, r; b.failed {
			b.atLo /= 2 // the Illinois rule: an end that stays twice counts half
		}
		b.failed = true
		return
	}
	b.last, b.at = float64(b.lo), b.atLo
	if b.lo, b.atLo = n, r; !b.failed {
		b.atHi /= 2
	}
	b.failed = false
}

// beyond is where the line through the last two trials says that the room ends, at most 64 times as far.
func (b *bracket) beyond() int64 {
	n, far := float64(b.lo), float64(b.lo)*64
	if slope := (b.at - b.atLo) / (n - b.last); b.last > 0 && slope > 0 {
		far = min(far, n+b.atLo/slope+1)
	}
	return max(int64(far), 2*b.lo)
}

// crossing is where the line between both ends says that the room ends, between them.
func (b *bracket) crossing() int64 {
	n := b.lo + int64(float64(b.hi-b.lo)*b.atLo/(b.atLo-b.atHi))
	return max(b.lo+1, min(n, b.hi-1))
}

const (
	searchContext   = 1 << 28
	searchSequences = 1 << 20
)

// MaxSequences is how many sequences of the context one replica holds, at most as many as the engine serves;
// nil when nothing bounds them.
func (q *Question) MaxSequences(context int64) *int64 {
	return q.limitOnce(limitKey{context, false}, func() *int64 { return q.searchSequences(context) })
}

// limitKey is a limit that is asked of a plan: how many sequences of a length it holds, or how long so many can be.
type limitKey struct {
	at     int64
	length bool
}

// limitOnce finds a limit, which answers and searches ask for again.
func (q *Question) limitOnce(k limitKey, find func() *int64) *int64 {
	n, ok := q.limits[k]
	if !ok {
		if n = find(); q.limits == nil {
			q.limits = map[limitKey]*int64{}
		}
		q.limits[k] = n
	}
	return n
}

func (q *Question) searchSequences(context int64) *int64 {
	limit, limited := engine.MaxSequences(q.Engine, q.Job)
	if limited = limited && limit < searchSequences; !limited {
		limit = searchSequences
	}
	n, bounded := LargestWithRoom(limit,
		func(n int64) unit.Bytes { return q.RoomLeft(engine.Load{Context: context, Sequences: n, Silent: true}) })
	if !bounded && !limited {
		return nil
	}
	n *= max(1, q.Request.DP) * q.Request.Workers()
	return &n
}

// MaxContext is the longest context that as many sequences can have; nil when nothing bounds it.
func (q *Question) MaxContext(sequences int64) *int64 {
	return q.limitOnce(limitKey{sequences, true}, func() *int64 { return q.searchContextLength(sequences) })
}

func (q *Question) searchContextLength(sequences int64) *int64 {
	n, bounded := LargestWithRoom(searchContext, func(n int64) unit.Bytes {
		return q.RoomLeft(engine.Load{Context: n, Sequences: sequences, Silent: true})
	})
	if !bounded {
		return nil
	}
	return &n
}

// MoreTokens is how many times as many tokens a second all users of a load together get, of those that are asked for and not of
// those that have room; nil when either is unknown.
func MoreTokens(a, b *api.Speed) *float64 {
	if a == nil || b == nil || a.Total == nil || b.Total == nil {
		return Faster(a, b)
	}
	x := *b.Total / *a.Total
	return &x
}

// Faster is how many times as fast a user is served; nil when either is unknown.
func Faster(a, b *api.Speed) *float64 {
	if a == nil || b == nil || a.Decode == nil || b.Decode == nil {
		return nil
	}
	x := *b.Decode / *a.Decode
	return &x
}
