package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/memwall/memwall/speed/stream"
	"github.com/memwall/memwall/validation/fit/internal/study"
)

// list says how far off predictions are by what rows have in common, and the worst; with outs, how often bands
// hold what was measured.
func list(w io.Writer, name string, rows []row, predicted []float64, outs []out) {
	fmt.Fprintf(w, "== %s\n", name)
	if outs != nil {
		banded(w, rows, outs)
	}
	errs := study.Groups{}
	var worst []int
	for i := range rows {
		r := &rows[i]
		if predicted[i] == 0 {
			continue
		}
		for _, k := range r.kinds() {
			errs.Of(k).Add(predicted[i], r.Rate)
		}
		worst = append(worst, i)
	}
	for _, k := range slices.Sorted(maps.Keys(errs)) {
		e := errs[k]
		fmt.Fprintf(w, "%-34s %5d  median %5.1f p75 %5.1f p90 %6.1f bias %+5.1f\n", k, e.Rows(), 100*e.Off(0.5), 100*e.Off(0.75),
			100*e.Off(0.9), 100*e.Bias())
	}
	off := func(i int) float64 { return math.Abs(math.Log(predicted[i] / rows[i].Rate)) }
	slices.SortStableFunc(worst, func(a, b int) int { return cmp.Compare(off(b), off(a)) })
	for _, i := range worst[:min(worstShown, len(worst))] {
		r := &rows[i]
		fmt.Fprintf(w, "   %+7.1f%%  %s %s %s %s %s %s %s p%d g%d d%d fa%s %v  %.4g\n", 100*(predicted[i]/r.Rate-1), r.Name(), r.Model,
			r.Weights, r.Device, r.Backend, r.Engine, r.Kind, r.Prompt, r.Generated, r.Depth, r.Flash, r.Variant, r.Rate)
	}
}

const worstShown = 25

// kinds are the groups that a row counts in: by what it times, and by backend, engine and family of that.
func (r *row) kinds() (out []string) {
	kind := "both"
	if r.decodes() || r.prefills() {
		kind = r.figure()
	}
	if r.Count > 1 {
		out = append(out, kind+" several "+r.Backend)
		kind += "*"
	}
	return append(out, kind, kind+" "+r.Backend, kind+" "+r.Engine, kind+" "+r.Backend+"/"+stream.Family(r.device))
}

// banded lists how many measurements lie in their bands, and how wide these are.
func banded(w io.Writer, rows []row, outs []out) {
	errs := study.Groups{}
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
			errs.Of(k).AddBand(o.low, o.rate, o.high, r.Rate)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(errs)) {
		e := errs[k]
		fmt.Fprintf(w, "band %-30s %5d coverage %5.1f width %5.1f\n", k, e.Rows(), 100*e.Cover(), 100*e.Width())
	}
}
