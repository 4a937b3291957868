package planner

import (
	"cmp"
	"math"
	"slices"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/search"
)

// Merits are the figures by which plans are compared, less being better; NaN is unknown and incomparable. Every order
// of plans is monotonic in all merits, so that the best plan is on the Pareto front.
type Merits []float64

// against returns the number of merits that are better, and worse, than o's.
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

// Front returns the indexes of plans that no other dominates.
func Front(all []Merits) []int {
	return search.Front(len(all), func(i, j int) (better, worse int) { return all[i].against(all[j]) })
}

// merits returns the figures of a plan near the requested one: how much it changes, quality loss, TTFT, TPOT, users
// held, headroom, and cost per token.
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

// cheaper orders plans by price; of equals one that dominates another comes first.
func cheaper(c *api.Candidate, o *api.Candidate) int {
	return cmp.Or(cmp.Compare(c.Price, o.Price), slices.Compare(merits(c), merits(o)))
}

// pareto returns the plans that no other dominates, and ranks those merits that are not figures.
func pareto(found []api.Candidate) []int {
	all := make([]Merits, len(found))
	for i := range found {
		all[i] = merits(&found[i])
	}
	rank(found, func(c *api.Candidate) float64 { return c.Effort }, func(c *api.Candidate) *int { return &c.EffortRank })
	RankQuality(found)
	return Front(all)
}

// RankQuality ranks plans from 1 by the quality cost of their formats, with ties.
func RankQuality(found []api.Candidate) {
	rank(found, func(c *api.Candidate) float64 { return c.Loss }, func(c *api.Candidate) *int { return &c.QualityRank })
}

// rank ranks plans by a figure from 1, with ties.
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
