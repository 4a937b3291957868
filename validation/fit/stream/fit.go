package main

import (
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"sort"

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
	for _, without := range foldsOf(rows, key) {
		t, err := fit(rows, without, table)
		if err != nil {
			return nil, err
		}
		if t, err = together(rows, without, t); err != nil {
			return nil, err
		}
		for i := range without {
			p := rows[i].model.With(t)
			outs[i] = out{rate: rows[i].predict(p.Values()), variance: p.Variance(rows[i].predict), spreads: rows[i].spreads(p)}
			if rows[i].Count == 1 {
				outs[i].scatter = p.Noise(rows[i].figure())
			}
		}
	}
	return outs, nil
}

// foldsOf deals the groups of rows of one device to folds; those of several devices follow, and groups that have
// no others are in the first.
func foldsOf(rows []row, key func(*row) string) []map[int]bool {
	single := 0 // they come first
	for single < len(rows) && rows[single].Count == 1 {
		single++
	}
	out, of := make([]map[int]bool, folds), map[string]int{}
	for f, list := range coef.Folds(single, func(i int) string { return key(&rows[i]) }, folds) {
		out[f] = map[int]bool{}
		for _, i := range list {
			out[f][i], of[key(&rows[i])] = true, f
		}
	}
	for i := single; i < len(rows); i++ {
		out[of[key(&rows[i])]][i] = true
	}
	return out
}

const folds = 8

func report(name string, rows []row, predicted []float64, outs []out) {
	errs := map[string][]float64{}
	type bad struct {
		e float64
		i int
	}
	var worst []bad
	for i := range rows {
		r := &rows[i]
		x := predicted[i]
		if x == 0 {
			continue
		}
		e := x/r.Rate - 1
		kind := "both"
		if r.decodes() {
			kind = "decode"
		} else if r.prefills() {
			kind = "prefill"
		}
		if r.Count > 1 {
			errs[fmt.Sprint(kind, " several ", r.Backend)] = append(errs[fmt.Sprint(kind, " several ", r.Backend)], e)
			kind += "*"
		}
		if r.Count == 1 && r.Device != "ryzen-ai-max-395" {
			errs[kind+" but Strix Halo"] = append(errs[kind+" but Strix Halo"], e)
		}
		for _, k := range []string{kind, kind + " " + r.Backend, kind + " " + r.Engine, kind + " " + r.Backend + "/" + stream.Family(r.device)} {
			errs[k] = append(errs[k], e)
		}
		worst = append(worst, bad{e, i})
	}
	fmt.Fprintf(os.Stderr, "== %s\n", name)
	if outs != nil {
		coverage(rows, outs)
	}
	var keys []string
	for k := range errs {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		e := errs[k]
		fmt.Fprintf(os.Stderr, "%-34s %5d  median %5.1f p75 %5.1f p90 %6.1f bias %+5.1f\n", k, len(e), 100*q(e, .5, true), 100*q(e, .75, true), 100*q(e, .9, true), 100*q(e, .5, false))
	}
	sort.Slice(worst, func(a, b int) bool { return math.Abs(math.Log1p(worst[a].e)) > math.Abs(math.Log1p(worst[b].e)) })
	for _, w := range worst[:25] {
		r := &rows[w.i]
		fmt.Fprintf(os.Stderr, "   %+7.1f%%  %s %s %s %s %s %s %s p%d g%d d%d fa%s %v  %.4g\n", 100*w.e, r.Name(), r.Model, r.Weights, r.Device, r.Backend, r.Engine, r.Kind, r.Prompt, r.Generated, r.Depth, r.Flash, r.Variant, r.Rate)
	}
}

func q(x []float64, p float64, abs bool) float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = v
		if abs {
			y[i] = math.Abs(v)
		}
	}
	sort.Float64s(y)
	return y[min(len(y)-1, int(p*float64(len(y))))]
}

func coverage(rows []row, outs []out) {
	inside, widths := map[string]int{}, map[string][]float64{}
	for i, o := range outs {
		r := &rows[i]
		if len(o.spreads) == 0 {
			continue
		}
		kind := r.figure()
		if r.Count > 1 {
			kind += " several"
		}
		for _, k := range []string{o.spreads[0], "all " + kind, kind + " " + r.Backend} {
			if o.low <= r.Rate && r.Rate <= o.high {
				inside[k]++
			}
			widths[k] = append(widths[k], (o.high-o.low)/o.rate)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(widths)) {
		w := widths[k]
		fmt.Fprintf(os.Stderr, "band %-30s %5d coverage %5.1f width %5.1f\n", k, len(w), 100*float64(inside[k])/float64(len(w)), 100*q(w, .5, false))
	}
}
