package main

import (
	"math"
	"slices"

	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/speed/stream"
	"github.com/memwall/memwall/stat"
)

// report is what one source measured on one device of one era: how far the times of its rows are off.
type report struct {
	figure, device string
	errors         []float64
}

// reports of one way of leaving rows out, in the order of their first rows.
func reports(rows []row, outs []out) (all []*report) {
	type key struct{ source, figure, device, built string }
	by := map[key]*report{}
	for i := range rows {
		r := &rows[i]
		if r.Count > 1 || len(outs[i].spreads) == 0 {
			continue
		}
		device := r.Backend + "/" + r.Device + "/" + r.Engine
		k := key{r.Source, r.figure(), device, r.Built}
		if by[k] == nil {
			by[k] = &report{figure: r.figure(), device: device}
			all = append(all, by[k])
		}
		by[k].errors = append(by[k].errors, outs[i].error(r))
	}
	return all
}

// own sets what a machine's own figures are worth: how far off each row of a report is from what the others of it
// say, by how much these scatter; and how reports of one device differ.
func own(t *coef.Table, rows []row, all []leftOut) {
	within, between := map[string]*coef.Errors{}, map[string][]float64{}
	for _, l := range all {
		list := reports(rows, l.outs)
		for _, r := range list {
			if within[r.figure] == nil {
				within[r.figure] = &coef.Errors{}
			}
			r.within(within[r.figure])
		}
		for figure, off := range machines(list) {
			between[figure] = append(between[figure], off...)
		}
	}
	for figure, e := range within {
		t.SetSpread(stream.OwnSpread+figure, e.Spread(0.9))
		t.Set(stream.Repeat+figure, stat.Deviation(e.Log))
		t.Set(stream.Machines+figure, stat.Deviation(between[figure]))
	}
}

// within adds how far each error is from the mean of the others, beside the scatter of these.
func (r *report) within(e *coef.Errors) {
	for i, x := range r.errors {
		others := slices.Delete(slices.Clone(r.errors), i, i+1)
		if v, ok := coef.Scatter(others); ok {
			e.Log, e.Var = append(e.Log, x-coef.Mean(others)), append(e.Var, v)
		}
	}
}

// machines gives by figure how far the mean of a report is from that of the device's others, as a deviation of one
// report: the mean of n others has a variance of its own, 1/n of theirs.
func machines(all []*report) map[string][]float64 {
	means := map[[2]string][]float64{}
	var order [][2]string
	for _, r := range all {
		k := [2]string{r.figure, r.device}
		if means[k] == nil {
			order = append(order, k)
		}
		means[k] = append(means[k], coef.Mean(r.errors))
	}
	out := map[string][]float64{}
	for _, k := range order {
		for i, x := range means[k] {
			others := slices.Delete(slices.Clone(means[k]), i, i+1)
			if n := float64(len(others)); n > 0 {
				out[k[0]] = append(out[k[0]], (x-coef.Mean(others))/math.Sqrt(1+1/n))
			}
		}
	}
	return out
}
