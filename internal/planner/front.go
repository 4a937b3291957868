package planner

import (
	"cmp"
	"math"
	"slices"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/search"
)

// Merits are what plans are compared by, less being better in each; NaN where a figure is not known, which neither beats
// one that is nor is beaten by it. Every order of plans falls with all of its merits, so that the best plan is on the front.
type Merits []float64

// against other merits: in how many ways these are better, and in how many worse.
func (m Merits) against(o Merits) (better, worse int) {
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

// Front are the indices of the plans whose merits no other plan's beat.
func Front(all []Merits) []int {
	return search.Front(len(all), func(i, j int) (better, worse int) { return all[i].against(all[j]) })
}

// merits of a plan near one that was asked for: how much it changes, loss of quality, how long a user waits for the first
// token and for each further one, users that it holds, room, and dollars for its tokens.
func merits(c *api.Candidate) Merits {
	m := Merits{c.Effort, c.Loss, math.NaN(), math.NaN(), math.Inf(-1), -float64(c.Headroom), orUnknown(c.Cost)}
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
func cheaper(c *api.Candidate, o *api.Candidate) int {
	return cmp.Or(cmp.Compare(c.Price, o.Price), slices.Compare(merits(c), merits(o)))
}

// pareto are the plans that no other beats in all of their merits, and ranks those of them that are no figures.
func pareto(found []api.Candidate) []int {
	all := make([]Merits, len(found))
	for i := range found {
		all[i] = merits(&found[i])
	}
	rank(found, func(c *api.Candidate) float64 { return c.Effort }, func(c *api.Candidate) *int { return &c.EffortRank })
	RankQuality(found)
	return Front(all)
}

// RankQuality numbers plans from 1 by what their formats cost in quality, equals alike.
func RankQuality(found []api.Candidate) {
	rank(found, func(c *api.Candidate) float64 { return c.Loss }, func(c *api.Candidate) *int { return &c.QualityRank })
}

// rank numbers plans by a figure from 1, equals alike.
func rank(found []api.Candidate, figure func(*api.Candidate) float64, number func(*api.Candidate) *int) {
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
