package coef

import (
	"cmp"
	"math"
	"slices"
)

// Votes are errors of which each source has one vote, spread evenly over its own.
type Votes struct{ of map[string][]float64 }

// Add adds an error of a source.
func (v *Votes) Add(source string, e float64) {
	if v.of == nil {
		v.of = map[string][]float64{}
	}
	v.of[source] = append(v.of[source], e)
}

// Count returns the number of sources and of their errors, of all sources but one ("" for all).
func (v *Votes) Count(without string) (sources, errors int) {
	for name, e := range v.of {
		if name != without {
			sources, errors = sources+1, errors+len(e)
		}
	}
	return sources, errors
}

// vote is an error with its share of a vote.
type vote struct{ error, share float64 }

// Interval is to hold at least the given share of the errors of a further source, as much of the rest below as above: no more than
// (1-coverage)/2 × (sources+1) votes lie beyond either edge or on it, unless the outermost error's share alone is more (split conformal
// prediction, arXiv:1604.04173, by sources). Of no source it is NaN.
func (v *Votes) Interval(coverage float64, without string) (low, high float64) {
	sources, _ := v.Count(without)
	beyond := (1 - coverage) / 2 * float64(sources+1)
	list := v.list(without)
	low = edge(list, beyond)
	slices.Reverse(list)
	return low, edge(list, beyond)
}

func (v *Votes) list(without string) (out []vote) {
	for name, errors := range v.of {
		if name == without {
			continue
		}
		for _, e := range errors {
			out = append(out, vote{e, 1 / float64(len(errors))})
		}
	}
	slices.SortFunc(out, func(a, b vote) int { return cmp.Or(cmp.Compare(a.error, b.error), cmp.Compare(a.share, b.share)) })
	return out
}

// edge is the innermost error up to which there are no more than so many votes, at least the outermost.
func edge(list []vote, votes float64) float64 {
	if len(list) == 0 {
		return math.NaN()
	}
	at, sum := list[0].error, 0.0
	for _, x := range list {
		if sum += x.share; sum > votes+1e-9 {
			break
		}
		at = x.error
	}
	return at
}
