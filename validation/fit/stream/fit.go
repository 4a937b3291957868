package main

import (
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/speed/stream"
)

// The loss turns from squares to absolute values at scale; penalty weighs what is believed before any row.
const (
	scale   = 0.08
	penalty = 1
)

// fit finds the coefficients from the rows but some. from is a table nearby, or nil.
func fit(rows []row, without map[int]bool, from *coef.Table) (*coef.Table, error) {
	p := coef.Problem{Start: stream.Start, Sigma: stream.Sigma, Scale: scale, Penalty: penalty, From: from}
	for i := range rows {
		if r := &rows[i]; !without[i] && r.Count == 1 {
			p.Rows = append(p.Rows, r.fitted())
		}
	}
	return p.Solve()
}

// together fits what several devices add to one, all else being known.
func together(rows []row, without map[int]bool, known *coef.Table) (*coef.Table, error) {
	p := coef.Problem{Start: stream.Start, Sigma: stream.Together, Scale: scale, Penalty: penalty, Known: known}
	for i := range rows {
		if r := &rows[i]; r.Count > 1 && !without[i] {
			p.Rows = append(p.Rows, r.fitted())
		}
	}
	return p.Solve()
}

// fitted is the row with the coefficients that it depends on.
func (r *row) fitted() coef.Row {
	all := r.model.Uses()
	var uses []coef.Use
	var at []int
	for i, u := range all {
		if r.decodes() && stream.OfPrompts(u.Name) || r.prefills() && stream.OfAnswers(u.Name) {
			continue
		}
		uses, at = append(uses, u), append(at, i)
	}
	c := make([]float64, len(all))
	for i := range c {
		c[i] = 1
	}
	return coef.Row{Name: r.Name(), Uses: uses, Measured: r.Rate, Weight: r.weight, Predict: func(x []float64) float64 {
		for i, k := range at {
			c[k] = x[i]
		}
		return r.predict(c)
	}}
}

func values(r *row, t *coef.Table) []float64 { return r.model.With(t).Values() }

// out is a prediction of a row that was left out of the fit.
type out struct {
	rate, variance float64
	spreads        []string // the narrowest first
	scatter        coef.Use // of one device
	noise          float64  // from the errors of other folds
	low, high      float64  // tokens a second
}

// leaveOut predicts every row from the others, whole groups left out together. Rows of several devices are in
// the fold of their group, but none is fitted with the others: what several devices add is fitted on top.
func leaveOut(rows []row, table *coef.Table, key func(*row) string) ([]out, error) {
	outs := make([]out, len(rows))
	var fits sync.WaitGroup
	var errs [folds]error
	for f, without := range foldsOf(rows, key) {
		fits.Go(func() { errs[f] = predictWithout(rows, without, table, outs) })
	}
	fits.Wait()
	return outs, errors.Join(errs[:]...)
}

// predictWithout predicts rows by a fit of the others; outs gets them at the rows' places.
func predictWithout(rows []row, without map[int]bool, from *coef.Table, outs []out) error {
	t, err := fit(rows, without, from)
	if err != nil {
		return err
	}
	if t, err = together(rows, without, t); err != nil {
		return err
	}
	for i := range without {
		p := rows[i].model.With(t)
		outs[i] = out{rate: rows[i].predict(p.Values()), variance: p.Variance(rows[i].predict), spreads: rows[i].spreads(p)}
		if rows[i].Count == 1 {
			outs[i].scatter = p.Noise(rows[i].figure())
		}
	}
	return nil
}

// foldsOf deals the groups of rows of one device to folds; those of several devices follow, and groups that have
// no others are in the first.
func foldsOf(rows []row, key func(*row) string) []map[int]bool {
	single := 0 // they come first
	for single < len(rows) && rows[single].Count == 1 {
		single++
	}
	out, of := make([]map[int]bool, folds), map[string]int{}
	for f := range out {
		out[f] = map[int]bool{}
	}
	for turn, group := range byBackend(rows[:single], key) {
		for f, list := range coef.Folds(len(group), func(i int) string { return key(&rows[group[i]]) }, folds) {
			for _, i := range list {
				at := (f + turn) % folds
				out[at][group[i]], of[key(&rows[group[i]])] = true, at
			}
		}
	}
	for i := single; i < len(rows); i++ {
		out[of[key(&rows[i])]][i] = true
	}
	return out
}

// byBackend are the rows by the backend of the first row of their group, so that groups of one backend are dealt to different folds: what
// is left out with a group should not be all that there is of its backend.
func byBackend(rows []row, key func(*row) string) [][]int {
	first, groups := map[string]string{}, map[string][]int{}
	for i := range rows {
		k := key(&rows[i])
		if first[k] == "" {
			first[k] = rows[i].Backend
		}
		groups[first[k]] = append(groups[first[k]], i)
	}
	out := make([][]int, 0, len(groups))
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		out = append(out, groups[name])
	}
	return out
}

const folds = 8
