package main

import (
	"cmp"
	"math"
	"slices"

	"github.com/memwall/memwall/speed/coef"
)

// enough errors make the band of a group.
const enough = 5

// error of a left-out prediction of the time, as a logarithm.
func (o *out) error(r *row) float64 { return math.Log(o.rate / r.Rate) }

// bands sets the noise and the spreads of a table: what the errors of left-out rows call for. A spread is of
// errors over a noise that was found without them.
func bands(t *coef.Table, rows []row, all []leftOut) {
	for i := range all {
		all[i].sampled = sampledErrors(rows, all[i].outs)
	}
	noises(t, rows, all, nil)
	for _, l := range all {
		for _, without := range foldsOf(rows, l.key) {
			from := coef.NewTable()
			noises(from, rows, all, without)
			for i := range without {
				l.outs[i].noise = l.outs[i].noisy(from)
			}
		}
	}
	spread(t, rows, all)
	for _, l := range all {
		for i := range l.outs {
			l.outs[i].low, l.outs[i].high = l.outs[i].band(t)
		}
	}
}

// leftOut are predictions of rows that were left out with all of one key.
type leftOut struct {
	outs []out
	key  func(*row) string
	// bands: its errors make the bands of one device. Those of a model left out do not, where others of the same report stayed
	// in the fit: the next user is a report that nobody has.
	bands   bool
	sampled []bool
}

// errorsPerReport is how many errors of a report count towards bands: its rows share a machine, a build and an owner.
const errorsPerReport = 8

// sampledErrors picks the errors that count: of a report with many those at equal steps of their order, so that they keep its quantiles;
// of several devices all, which few reported, and whose band plans have too that share a model with a host.
func sampledErrors(rows []row, outs []out) []bool {
	by, sampled := map[string][]int{}, make([]bool, len(rows))
	for i := range rows {
		if rows[i].Count > 1 {
			sampled[i] = true
		} else if len(outs[i].spreads) > 0 {
			k := rows[i].report() + "/" + rows[i].figure()
			by[k] = append(by[k], i)
		}
	}
	for _, list := range by {
		slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(outs[a].error(&rows[a]), outs[b].error(&rows[b])) })
		n := min(errorsPerReport, len(list))
		for k := range n {
			sampled[list[(2*k+1)*len(list)/(2*n)]] = true
		}
	}
	return sampled
}

func noises(t *coef.Table, rows []row, all []leftOut, without map[int]bool) {
	by := map[string]*coef.Noise{}
	for _, l := range all {
		for i := range l.outs {
			o := &l.outs[i]
			if o.scatter.Name == "" || !l.bands || !l.sampled[i] || without[i] {
				continue
			}
			n := by[o.scatter.Name]
			if n == nil {
				n = &coef.Noise{Name: o.scatter.Name}
				by[n.Name] = n
			}
			n.Levels, n.Errors = append(n.Levels, o.scatter.Levels), append(n.Errors, o.error(&rows[i]))
		}
	}
	for _, n := range by {
		n.Fit(t)
	}
}

func spread(t *coef.Table, rows []row, all []leftOut) {
	by := map[string]*coef.Errors{}
	for _, l := range all {
		for i := range l.outs {
			o := &l.outs[i]
			if rows[i].Count == 1 && !l.bands || !l.sampled[i] {
				continue
			}
			for _, name := range o.spreads {
				if by[name] == nil {
					by[name] = &coef.Errors{}
				}
				by[name].Log, by[name].Var = append(by[name].Log, o.error(&rows[i])/o.noise), append(by[name].Var, o.variance)
			}
		}
	}
	for name, e := range by {
		if len(e.Log) >= enough {
			t.SetSpread(name, e.Spread(0.9))
		}
	}
}

// noisy is the prediction's noise by a table.
func (o *out) noisy(t *coef.Table) float64 {
	if !t.Has(o.scatter.Name) {
		return 1
	}
	return t.At(o.scatter).Value
}

// band of a left-out prediction, in tokens a second.
func (o *out) band(t *coef.Table) (low, high float64) {
	for _, name := range o.spreads {
		if s, ok := t.Spread(name); ok {
			slow, fast := s.Times(o.noise).Band(1, o.variance) // of the time
			return o.rate / fast, o.rate / slow
		}
	}
	return o.rate, o.rate
}
