package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/stat"
)

// figure is one that a counter shows: what was measured, what ours is under a law, and whether its ratio to that is fitted.
type figure struct {
	measured func(*run) float64
	ours     func(law, *run) float64
	ratio    bool
	// source is what is left out together.
	source func(*run) string
	// unseen, where it is not nil, predicts runs by laws that did not see them: a band is of those.
	unseen func(rows []run) func(*run) float64
}

// maker is who measured: the repository of a source. file is the one file of it.
func maker(r *run) string { org, _, _ := strings.Cut(r.row.Source, ":"); return org }
func file(r *run) string  { return r.row.Source }

func figures() []figure {
	torch := func(r *run) float64 { return counter("reserved")(r) + counter("unknown")(r) }
	allocated := func(_ law, r *run) float64 { return r.allocated }
	return []figure{{counter("allocated"), allocated, false, maker, nil}, {torch, law.reserved, true, maker, nil},
		{shown, law.shown, false, file, leftOut}}
}

// folds predicts each row by constants and bands that were fitted without its source: without all that its maker measured,
// or, of nvidia-smi, which one maker prints beside allocated bytes, without its file. In GiB, zeros where nothing was
// measured.
func folds() ([]byte, error) {
	all, err := runs()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString("line\tallocated\tlow\thigh\treserved\tlow\thigh\tnvidia-smi\tlow\thigh\n")
	var tables []map[string]fold
	kinds := figures()
	for _, f := range kinds {
		tables = append(tables, withoutEach(all, f))
	}
	for i := range all {
		r := &all[i]
		fmt.Fprintf(&b, "%d", r.row.Line)
		for k, f := range kinds {
			x := [3]float64{}
			if f.measured(r) > 0 {
				one := tables[k][f.source(r)]
				x = one.predict(f.ours, r)
			}
			fmt.Fprintf(&b, "\t%.4g\t%.4g\t%.4g", x[0], x[1], x[2])
		}
		b.WriteByte('\n')
	}
	return b.Bytes(), nil
}

// fold is what was fitted without a source.
type fold struct {
	law              law
	ratio, low, high float64
	// known are frameworks that the law was fitted to, whose ratio is 1.
	known map[string]bool
}

// mid is ours of a run, in bytes.
func (f *fold) mid(ours func(law, *run) float64, r *run) float64 {
	if f.known[r.framework] {
		return ours(f.law, r)
	}
	return f.ratio * ours(f.law, r)
}

func (f *fold) predict(ours func(law, *run) float64, r *run) [3]float64 {
	mid := f.mid(ours, r) / gib
	return [3]float64{mid, mid * min(1, f.low), mid * max(1, f.high)}
}

// withoutEach fits once for each source that is left out.
func withoutEach(all []run, f figure) map[string]fold {
	out := map[string]fold{}
	wider := f.residuals(all, f.without(all, 1)).widening()
	for _, r := range pick(all, f.measured) {
		key := f.source(&r)
		if _, ok := out[key]; !ok {
			out[key] = f.without(slices.DeleteFunc(slices.Clone(all), func(r run) bool { return f.source(&r) == key }), wider)
		}
	}
	return out
}

// knownOf are the frameworks of runs of which nvidia-smi was read.
func knownOf(rows []run) map[string]bool {
	out := map[string]bool{}
	for _, r := range pick(rows, shown) {
		out[r.framework] = true
	}
	return out
}

// ratioOf is how much torch reserves of what was said, at least 1: the median of makers who say that they read that counter.
func ratioOf(rows []run, ours func(*run) float64) float64 {
	read := counter("reserved")
	return max(1, stat.WeightedQuantile(ratiosOf(pick(rows, read), read, ours).but(""), 0.5))
}

// residuals are what a fold leaves of the runs, or laws that did not see them.
func (f figure) residuals(rows []run, x fold) ratios {
	ours := func(r *run) float64 { return x.mid(f.ours, r) }
	if f.unseen != nil {
		ours = f.unseen(pick(rows, func(r *run) float64 { return r.row.SMI }))
	}
	return ratiosOf(pick(rows, f.measured), f.measured, ours)
}

// without is the fit to the runs that are left, its band widened.
func (f figure) without(rest []run, wider float64) fold {
	both := pick(rest, func(r *run) float64 { return r.row.SMI })
	x := fold{law: solve(both), ratio: 1, known: knownOf(rest)}
	if f.ratio {
		x.ratio = ratioOf(rest, func(r *run) float64 { return f.ours(x.law, r) })
	}
	x.low, x.high = edges(f.residuals(rest, x).but(""), wider)
	return x
}
