package train

import (
	"slices"

	"github.com/memwall/memwall/internal/planner"
	"github.com/memwall/memwall/internal/stable"
)

// Bounds on what is kept.
const (
	mostKept  = 10_000 // of all found
	mostFront = 48
	mostKinds = 32
)

// kept are the best plans of each kind, the Pareto front in time, money and headroom, and the plans that rules of thumb would
// choose.
type kept struct {
	want   string // objective
	every  bool   // all plans are requested
	number int    // plans found
	best   []*candidate
	kinds  map[string]*candidate // the best of each
	names  []string              // kinds, in order of discovery
	front  []*candidate
	chosen map[string]*candidate // by rules of thumb
	all    []*candidate          // only if all are requested
}

func (k *kept) add(p *candidate) {
	p.number = k.number
	k.number++
	k.keepBest(p)
	k.keepFront(p)
	k.keepChosen(p)
	if k.every && len(k.all) < mostKept {
		k.all = append(k.all, p)
	}
}

// keepBest keeps the best plan overall and of each kind.
func (k *kept) keepBest(p *candidate) {
	if k.kinds == nil {
		k.kinds = map[string]*candidate{}
	}
	q := k.kinds[p.kind]
	if q == nil {
		k.names = append(k.names, p.kind)
	}
	if q == nil || k.order(p, q) < 0 {
		k.kinds[p.kind] = p
	}
	i, _ := slices.BinarySearchFunc(k.best, p, k.order)
	if i < planner.MaxCandidates {
		k.best = slices.Insert(k.best, i, p)
		k.best = k.best[:min(len(k.best), planner.MaxCandidates)]
	}
}

// keepFront keeps plans that no other dominates.
func (k *kept) keepFront(p *candidate) {
	if !p.timed() {
		return
	}
	for _, q := range k.front {
		if better, worse := q.against(p); worse == 0 && (better > 0 || k.order(q, p) < 0) {
			return
		}
	}
	k.front = slices.DeleteFunc(k.front, func(q *candidate) bool {
		_, worse := p.against(q)
		return worse == 0
	})
	k.front = append(k.front, p)
}

// ranked returns the plans of an answer: the best overall, the best of each kind, and the front.
func (k *kept) ranked() (out []*candidate) {
	order := k.order
	for _, name := range k.names {
		out = append(out, k.kinds[name])
	}
	stable.Sort(out, order)
	out = out[:min(len(out), mostKinds)]
	stable.Sort(k.front, order)
	out = append(append(append(out, k.best...), k.front[:min(len(k.front), mostFront)]...), k.all...)
	stable.Sort(out, order)
	return slices.Compact(out)
}

// indices returns the indices of those plans that are on the front.
func (k *kept) indices(plans []*candidate) (out []int) {
	on := map[*candidate]bool{}
	for _, p := range k.front {
		on[p] = true
	}
	for i, p := range plans {
		if on[p] {
			out = append(out, i)
		}
	}
	return out
}

// cannotBeat reports whether no plan of a layout can be the best of its kind, among the best overall or on the front, given that
// none takes less time or leaves more room than bound.
func (k *kept) cannotBeat(bound *candidate) bool {
	order := k.order
	bound.number = k.number
	if q := k.kinds[bound.kind]; q == nil || order(q, bound) > 0 || len(k.best) < planner.MaxCandidates ||
		order(k.best[planner.MaxCandidates-1], bound) > 0 {
		return false
	}
	return slices.ContainsFunc(k.front, func(q *candidate) bool {
		_, worse := q.against(bound)
		return worse == 0
	})
}

// order compares two plans by the objective.
func (k *kept) order(a, b *candidate) int { return compare(k.want, a, b) }
