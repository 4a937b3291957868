package question

import (
	"math"
	"sort"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

// judge returns the verdict on one class of ranks: its needs against what the plan may use. If the limit lies within
// the band, the plan may run: it is tight.
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

// WorstVerdict returns the worst verdict of the ranks.
func WorstVerdict(ranks []engine.Rank) api.Verdict {
	v := api.Fits
	for i := range ranks {
		if w := judge(&ranks[i]); VerdictSeverity[w] > VerdictSeverity[v] {
			v = w
		}
	}
	return v
}

// Headroom returns what a rank's needs leave of usable memory, and of a pool of given size.
func Headroom(r *engine.Rank) unit.Bytes {
	left := r.Usable.Bytes() - r.Needed().Bytes
	if r.KV.Given {
		left = min(left, r.KV.Pool-r.KV.Needed)
	}
	return left
}

// Verdict returns the worst verdict over all ranks, the host and the pool beyond it.
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

// holding returns the verdict on needs in a memory of the given size.
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

// DecidingFirst sorts ranks by the memory they leave, least first.
func DecidingFirst(ranks []engine.Rank) {
	sort.SliceStable(ranks, func(i, j int) bool { return Headroom(&ranks[i]) < Headroom(&ranks[j]) })
}

// RoomLeft returns the best estimate of what a load leaves on the rank or host with the least.
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

// LargestWithRoom returns the largest n from 0 to limit for which room is not negative; room must be monotonic in sign.
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

// bracket narrows down the last n with room: lo has, hi (once known) has not. Needs are nearly linear in n, with steps
// for pages and padding, so linear interpolation finds it in a few evaluations.
type bracket struct {
	lo, hi     int64
	atLo, atHi float64 // room there, in bytes
	last, at   float64 // the evaluation before lo
	failed     bool    // the last evaluation had no room
}

func (b *bracket) put(n int64, room func(int64) unit.Bytes) {
	r := float64(room(n))
	if r < 0 {
		if b.hi, b.atHi = n, r; b.failed {
			b.atLo /= 2 // Illinois rule: halve an end that stays twice
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

// beyond extrapolates the last two evaluations to where room ends, at most 64 times as far.
func (b *bracket) beyond() int64 {
	n, far := float64(b.lo), float64(b.lo)*64
	if slope := (b.at - b.atLo) / (n - b.last); b.last > 0 && slope > 0 {
		far = min(far, n+b.atLo/slope+1)
	}
	return max(int64(far), 2*b.lo)
}

// crossing interpolates between both ends to where room ends.
func (b *bracket) crossing() int64 {
	n := b.lo + int64(float64(b.hi-b.lo)*b.atLo/(b.atLo-b.atHi))
	return max(b.lo+1, min(n, b.hi-1))
}

const (
	searchContext   = 1 << 28
	searchSequences = 1 << 20
)

// MaxSequences returns how many sequences of the context one replica holds, at most the engine's limit; nil if
// unbounded.
func (q *Question) MaxSequences(context int64) *int64 {
	return q.limitOnce(limitKey{context, false}, func() *int64 { return q.searchSequences(context) })
}

// limitKey identifies a limit of a plan: the number of sequences of a length, or the length of a number of sequences.
type limitKey struct {
	at     int64
	length bool
}

// limitOnce returns a cached limit or computes it.
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

// MaxContext returns the longest context for the given number of sequences; nil if unbounded.
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

// MoreTokens returns the ratio of tokens a second of all users of a load, counting the users requested rather than
// those that fit; nil if either is unknown.
func MoreTokens(a, b *api.Speed) *float64 {
	if a == nil || b == nil || a.Total == nil || b.Total == nil {
		return Faster(a, b)
	}
	x := *b.Total / *a.Total
	return &x
}

// Faster returns the ratio of speeds for one user; nil if either is unknown.
func Faster(a, b *api.Speed) *float64 {
	if a == nil || b == nil || a.Decode == nil || b.Decode == nil {
		return nil
	}
	x := *b.Decode / *a.Decode
	return &x
}
