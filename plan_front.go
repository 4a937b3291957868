package memwall

import (
	"cmp"
	"math"
	"slices"

	"github.com/memwall/memwall/search"
)

// merits are what plans are compared by, less being better in each; NaN where a figure is not known, which neither beats
// one that is nor is beaten by it. Every order of plans falls with all of its merits, so that the best plan is on the front.
type merits []float64

// against other merits: in how many ways these are better, and in how many worse.
func (m merits) against(o merits) (better, worse int) {
	for i := range m {
		switch a, b := m[i], o[i]; {
		case math.IsNaN(a) != math.IsNaN(b):
			better, worse = better+1, worse+1
		case a < b:
			better++
		case a > b:
			worse++
		}
	}
	return better, worse
}

// front are the indices of the plans whose merits no other plan's beat.
func front(all []merits) []int {
	return search.Front(len(all), func(i, j int) (better, worse int) { return all[i].against(all[j]) })
}

// merits of a plan near one that was asked for: how much it changes, loss of quality, how long a user waits for the first
// token and for each further one, users that it holds, room, and dollars for its tokens.
func (c *Candidate) merits() merits {
	m := merits{c.effort, c.loss, math.NaN(), math.NaN(), math.Inf(-1), -float64(c.Headroom), orUnknown(c.Cost)}
	if s := c.Speed; s != nil {
		m[2], m[3] = orUnknown(s.TTFT), orUnknown(s.TPOT)
	}
	if n := c.MaxSequences; n != nil {
		m[4] = -float64(*n)
	}
	return m
}

func orUnknown(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return *x
}

// cheaper orders plans by their price; of equals one that beats another comes first.
func (c *Candidate) cheaper(o *Candidate) int {
	return cmp.Or(cmp.Compare(c.price, o.price), slices.Compare(c.merits(), o.merits()))
}

// pareto are the plans that no other beats in all of their merits, and ranks those of them that are no figures.
func pareto(found []Candidate) []int {
	all := make([]merits, len(found))
	for i := range found {
		all[i] = found[i].merits()
	}
	rank(found, func(c *Candidate) float64 { return c.effort }, func(c *Candidate) *int { return &c.EffortRank })
	rankQuality(found)
	return front(all)
}

func rankQuality(found []Candidate) {
	rank(found, func(c *Candidate) float64 { return c.loss }, func(c *Candidate) *int { return &c.QualityRank })
}

// rank numbers plans by a figure from 1, equals alike.
func rank(found []Candidate, figure func(*Candidate) float64, number func(*Candidate) *int) {
	var seen []float64
	for i := range found {
		seen = append(seen, figure(&found[i]))
	}
	slices.Sort(seen)
	seen = slices.Compact(seen)
	for i := range found {
		at, _ := slices.BinarySearch(seen, figure(&found[i]))
		*number(&found[i]) = 1 + at
	}
}
