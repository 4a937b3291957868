package study

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/memwall/memwall/internal/card"
)

// criterion is what a design of the study is to do.
func (s *Study) criterion() string {
	switch {
	case s.Ask == "sim" && s.says("goal"):
		return card.KeepsGoal
	case s.Ask == "sim":
		return card.HoldsLoad
	case s.Ask == "plan" && (s.says("goal") || s.says("workload")):
		return card.ServesLoad
	}
	return card.Fitting
}

// says reports whether the study gives a field of the request a value.
func (s *Study) says(field string) bool {
	has := func(all []setting) bool {
		return slices.ContainsFunc(all, func(v setting) bool { return v.field == field })
	}
	return has(s.fixed) || slices.ContainsFunc(s.Factors, func(f Factor) bool {
		return f.count > 0 && field == "workload" || len(f.levels) > 0 && has(f.levels[0].set)
	})
}

// grouped parts sorted designs into their cases.
func grouped(all []*placed) (cases []card.StudyCase) {
	for from := 0; from < len(all); {
		c := card.StudyCase{From: from, Best: -1, Nearest: -1}
		for to := from; to < len(all) && slices.Equal(all[to].wanted, all[from].wanted); to++ {
			c.Designs++
			if all[to].holds() {
				c.Held++
			}
		}
		of := all[from : from+c.Designs]
		switch i := nearest(of); {
		case c.Held > 0 && of[0].known():
			c.Best = from
		case c.Held == 0 && i >= 0:
			c.Nearest = from + i
		}
		cases = append(cases, c)
		from += c.Designs
	}
	return cases
}

// nearest of designs that do not do what is wanted: the one that does it most often, and of those the best; -1 where none
// ever does.
func nearest(of []*placed) int {
	share := func(p *placed) float64 { return float64(p.Held) / float64(p.Seeds) }
	best := 0
	for i := range of {
		if share(of[i]) > share(of[best]) {
			best = i
		}
	}
	if of[best].Held == 0 {
		return -1
	}
	return best
}

func (p *placed) holds() bool { return p.Held == p.Seeds }

// known in the first measure.
func (p *placed) known() bool { return len(p.at) > 0 && !math.IsInf(p.at[0], 1) }

// overall is the best way of taking what can be chosen of those that do all cases; nil where none does.
func overall(all []*placed, cases []card.StudyCase) *card.StudyBest {
	if len(cases) < 2 {
		return nil
	}
	of := map[string][]*placed{}
	for _, p := range all {
		if p.holds() && p.known() {
			key := fmt.Sprint(p.chosen)
			of[key] = append(of[key], p)
		}
	}
	var best []*placed
	n := 0
	for _, these := range of {
		if len(these) < len(cases) {
			continue
		}
		if n++; best == nil || slices.Compare(mean(these), mean(best)) < 0 || slices.Equal(mean(these), mean(best)) &&
			slices.Compare(these[0].chosen, best[0].chosen) < 0 {
			best = these
		}
	}
	if best == nil {
		return nil
	}
	return &card.StudyBest{Name: best[0].Name, Of: n, Spreads: across(best)}
}

// mean place of designs, by measure.
func mean(all []*placed) []float64 {
	out := make([]float64, len(all[0].at))
	for _, p := range all {
		for i, x := range p.at {
			out[i] += x / float64(len(all))
		}
	}
	return out
}

// across cases: the mean of the designs' means, and the least and the most of them in place of percentiles.
func across(all []*placed) (out []*card.Spread) {
	for m := range all[0].Spreads {
		var one *card.Spread
		for _, p := range all {
			s := p.Spreads[m]
			switch {
			case s == nil:
				continue
			case one == nil:
				one = &card.Spread{P5: s.Mean, P95: s.Mean}
			}
			one.P5, one.P95 = min(one.P5, s.Mean), max(one.P95, s.Mean)
			one.Mean += s.Mean / float64(len(all))
		}
		if one != nil {
			one.P50 = one.Mean
		}
		out = append(out, one)
	}
	return out
}

// differing are the factors of which designs have several levels.
func differing(all []*placed) []bool {
	var out []bool
	for _, p := range all {
		if out == nil {
			out = make([]bool, len(p.levels))
		}
		for i := range p.levels {
			out[i] = out[i] || p.levels[i] != all[0].levels[i]
		}
	}
	return out
}

// entitle names designs and cases by what differs.
func (t *Tally) entitle(all []*placed, cases []card.StudyCase) {
	differ := differing(all)
	name := func(p *placed, asked bool, between string) string {
		var words []string
		for i := range p.levels {
			if differ[i] && t.asked[i] == asked {
				words = append(words, p.Names[i])
			}
		}
		return strings.Join(words, between)
	}
	for _, p := range all {
		p.Name = cmp.Or(name(p, false, " · "), t.study.machine(), "the one design")
	}
	for i := range cases {
		cases[i].Name = name(all[cases[i].From], true, ", ")
	}
}

// machine that all questions are of; "" where there are several.
func (s *Study) machine() string {
	for i := range s.fixed {
		if s.fixed[i].field == "hardware" {
			return machine(strings.Trim(string(s.fixed[i].value), `"`))
		}
	}
	return ""
}
