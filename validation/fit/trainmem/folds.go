package main

import (
	"bytes"
	"fmt"
	"strings"
)

// figure is one that a counter shows: what was measured, what ours grows with, and whether its ratio to allocated bytes is
// fitted.
type figure struct {
	measured func(*run) float64
	ratio    bool
	// source is what is left out together.
	source func(*run) string
}

// maker is who measured: the repository of a source. file is the one file of it.
func maker(r *run) string { org, _, _ := strings.Cut(r.row.Source, ":"); return org }
func file(r *run) string  { return r.row.Source }

func figures() []figure {
	reserved := func(r *run) float64 { return counter("reserved")(r) + counter("unknown")(r) }
	shown := func(r *run) float64 { return max(r.row.SMI, counter("nvidia-smi")(r)) }
	return []figure{{counter("allocated"), false, maker}, {reserved, true, maker}, {shown, false, file}}
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
	for i, f := range kinds {
		tables = append(tables, withoutEach(all, f, i == 2))
	}
	for i := range all {
		r := &all[i]
		fmt.Fprintf(&b, "%d", r.row.Line)
		for k, f := range kinds {
			x := [3]float64{}
			if f.measured(r) > 0 {
				x = tables[k][f.source(r)].predict(r)
			}
			fmt.Fprintf(&b, "\t%.4g\t%.4g\t%.4g", x[0], x[1], x[2])
		}
		b.WriteByte('\n')
	}
	return b.Bytes(), nil
}

// fold is what was fitted without a source.
type fold struct {
	law              [5]float64
	shown            bool
	ratio, low, high float64
}

func (f fold) mid(r *run) float64 {
	if f.shown {
		return r.shown(f.law)
	}
	return r.allocated * f.ratio
}

func (f fold) predict(r *run) [3]float64 {
	mid := f.mid(r) / gib
	return [3]float64{mid, mid * min(1, f.low), mid * max(1, f.high)}
}

// withoutEach fits once for each source that is left out.
func withoutEach(all []run, f figure, shown bool) map[string]fold {
	out := map[string]fold{}
	rows := pick(all, f.measured)
	for i := range rows {
		key := f.source(&rows[i])
		if _, ok := out[key]; ok {
			continue
		}
		var rest []run
		for _, r := range rows {
			if f.source(&r) != key {
				rest = append(rest, r)
			}
		}
		x := fold{shown: shown, ratio: 1}
		if shown {
			x.law = solve(pick(rest, func(r *run) float64 { return r.row.SMI }))
		}
		if f.ratio {
			x.ratio = max(1, hundredth(pool(rest, f.measured, x.mid), 0.5))
		}
		spread := pool(rest, f.measured, x.mid)
		x.low, x.high = hundredth(spread, 0.05), hundredth(spread, 0.95)
		out[key] = x
	}
	return out
}

// pool gives measured over ours of all frameworks with enough runs, each weighing the same.
func pool(rows []run, measured, ours func(*run) float64) (out []weighted) {
	of := map[string]int{}
	for i := range rows {
		of[rows[i].framework]++
	}
	for i := range rows {
		r := &rows[i]
		if n := enough(of[r.framework]); n > 0 {
			out = append(out, weighted{measured(r) * gib / ours(r), 1 / float64(n)})
		}
	}
	return out
}
