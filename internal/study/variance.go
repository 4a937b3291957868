package study

import (
	"cmp"

	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/stable"
)

// variance parts that of a measure between the factors of a study, in one pass: the first-order indices of a factorial
// design (Saltelli et al. 2008, Global Sensitivity Analysis, 1.2.5: S_i = V(E(Y|X_i)) / V(Y)).
type variance struct {
	n           int64
	mean, m2    float64 // Welford's
	least, most float64
	levels      []map[int64]*level1 // by factor
}

// level1 is what came of one level of a factor.
type level1 struct {
	n   int64
	sum float64
}

func newVariance(factors int) *variance {
	v := &variance{}
	for range factors {
		v.levels = append(v.levels, map[int64]*level1{})
	}
	return v
}

func (v *variance) add(levels []int64, y float64) {
	if v.n == 0 {
		v.least, v.most = y, y
	}
	v.n++
	v.least, v.most = min(v.least, y), max(v.most, y)
	d := y - v.mean
	v.mean += d / float64(v.n)
	v.m2 += d * (y - v.mean)
	for i, l := range levels {
		one := v.levels[i][l]
		if one == nil {
			one = &level1{}
			v.levels[i][l] = one
		}
		one.n++
		one.sum += y
	}
}

// share of the variance that a factor explains by itself.
func (v *variance) share(factor int) float64 {
	if v.m2 == 0 {
		return 0
	}
	between := 0.0
	for _, l := range v.levels[factor] {
		d := l.sum/float64(l.n) - v.mean
		between += float64(l.n) * d * d
	}
	return min(1, between/v.m2)
}

// uneven: levels of a factor have unlike numbers of answers.
func (v *variance) uneven() bool {
	for _, all := range v.levels {
		var n int64
		for _, l := range all {
			if n != 0 && l.n != n {
				return true
			}
			n = l.n
		}
	}
	return false
}

// sensitivity of a measure.
func (t *Tally) sensitivity(measure int) card.Sensitivity {
	v := t.vary[measure]
	out := card.Sensitivity{Measure: t.measures[measure].Name, N: v.n, Mean: v.mean, Least: v.least, Most: v.most, Uneven: v.uneven()}
	rest := 1.0
	for i := range t.study.Factors {
		if t.study.Factors[i].Levels() > 1 {
			s := v.share(i)
			out.Shares = append(out.Shares, card.Share{Factor: t.study.Factors[i].Name, Share: s})
			rest -= s
		}
	}
	if v.m2 > 0 {
		out.Together = max(0, rest)
	}
	stable.Sort(out.Shares, func(a, b card.Share) int { return cmp.Compare(b.Share, a.Share) })
	return out
}
