// Trainmem writes train/fitted.tsv from the measured runs of validation: what nvidia-smi shows beside allocated bytes, what
// torch's allocator reserves of them, and the bands of our figures. It gives the same table whatever the table was before:
//
//	go run ./validation/fit/trainmem -out train/fitted.tsv
package main

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"

	"github.com/memwall/memwall/stat"
	"github.com/memwall/memwall/train"
	"github.com/memwall/memwall/validation"
	"github.com/memwall/memwall/validation/fit/internal/tables"
)

func main() {
	out := flag.String("out", "train/fitted.tsv", "table to write")
	left := flag.String("folds", "validation/rows/train-memory-folds.tsv", "predictions to write, each by a fit without the row's source")
	tables.Start()
	table, err := fit()
	if err == nil {
		err = tables.Write(*out, table)
	}
	if err == nil {
		table, err = folds()
	}
	if err == nil {
		err = tables.Write(*left, table)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "trainmem:", err)
		os.Exit(1)
	}
}

// run is a measured run with what depends on no fit.
type run struct {
	row       *validation.TrainingRow
	framework string
	allocated float64
	drivers   train.Drivers
	capacity  float64
}

const gib = 1 << 30

// runs are the rows that are not refused, and did not end for want of memory.
func runs() ([]run, error) {
	rows, err := validation.Trainings()
	if err != nil {
		return nil, err
	}
	var out []run
	for i := range rows {
		r := &rows[i]
		if r.Refused != "" || r.OOM {
			continue
		}
		ranks, err := r.Predict()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Name(), err)
		}
		x := r.Read(ranks)
		capacity := math.Inf(1)
		if !x.Unlimited {
			capacity = x.Capacity.V
		}
		out = append(out, run{r, framework(r), x.Allocated.Mid, x.Drivers, capacity})
	}
	return out, nil
}

// framework whose rules the row is sized by.
func framework(r *validation.TrainingRow) string {
	name, _, _ := bytes.Cut([]byte(r.Ask.Framework), []byte("@"))
	return train.FindFramework(string(name)).Name
}

func fit() ([]byte, error) {
	all, err := runs()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString("figure\tframework\trows\tratio\tlow\thigh\n")
	both := pick(all, func(r *run) float64 { return r.row.SMI })
	law := solve(both)
	for i, name := range lawNames {
		fmt.Fprintf(&b, "law\t%s\t%d\t%.4f\t0\t0\n", name, len(both), law[i])
	}
	writeSpread(&b, "allocated", pick(all, counter("allocated")), counter("allocated"), func(r *run) float64 { return r.allocated }, nil)
	known := knownOf(all)
	writeSpread(&b, "reserved", pick(all, reserved(law)), reserved(law), law.reserved,
		func(framework string) bool { return !known[framework] })
	writeSpread(&b, "nvidia-smi", pick(all, shown), shown, leftOut(both), nil)
	return b.Bytes(), nil
}

// shown are the GiB that nvidia-smi was read to show.
func shown(r *run) float64 { return max(r.row.SMI, counter("nvidia-smi")(r)) }

// reserved are the GiB that torch was read to reserve, those of a counter that nobody names, or what nvidia-smi shows without
// what the driver takes.
func reserved(l law) func(*run) float64 {
	return func(r *run) float64 {
		if n := counter("reserved")(r) + counter("unknown")(r); n > 0 || shown(r) == 0 {
			return n
		}
		return shown(r) - l.outside(r)/gib
	}
}

// counter gives the row's GiB where that counter was read.
func counter(name string) func(*run) float64 {
	return func(r *run) float64 {
		if r.row.Counter != name {
			return 0
		}
		return r.row.GiB
	}
}

func pick(all []run, figure func(*run) float64) (out []run) {
	for _, r := range all {
		if figure(&r) > 0 {
			out = append(out, r)
		}
	}
	return out
}

// fewest runs of a framework that say how far its figures are off, and publications that they come from.
const fewest = 5

// writeSpread writes the band of a figure, which is of makers that are left out: nobody else than one maker measured most
// frameworks, so that how well rules hold on its runs says little of another's. A framework has a ratio of its own, the median,
// where that is fitted to several publications.
func writeSpread(b *bytes.Buffer, figure string, rows []run, measured, ours func(*run) float64, ratio func(framework string) bool) {
	of, files := map[string][]stat.Weighted{}, map[string]map[string]bool{}
	for i := range rows {
		f := rows[i].framework
		of[f] = append(of[f], stat.Weighted{Value: measured(&rows[i]) * gib / ours(&rows[i]), Weight: 1})
		if files[f] == nil {
			files[f] = map[string]bool{}
		}
		files[f][file(&rows[i])] = true
	}
	ratios := map[string]float64{"*": 1}
	if ratio != nil {
		ratios["*"] = ratioOf(rows, ours)
	}
	for f, x := range of {
		if ratio != nil && len(x) >= fewest {
			switch ratios[f] = ratios["*"]; {
			case !ratio(f):
				ratios[f] = 1 // the law was fitted to it
			case len(files[f]) >= fewest:
				ratios[f] = max(1, stat.WeightedQuantile(x, 0.5))
			}
		}
	}
	left := ratiosOf(rows, measured, func(r *run) float64 { return cmp.Or(ratios[r.framework], ratios["*"]) * ours(r) })
	low, high := edges(left.but(""), left.widening())
	for _, f := range slices.Sorted(maps.Keys(ratios)) {
		n := len(of[f])
		if f == "*" {
			n = len(rows)
		}
		fmt.Fprintf(b, "%s\t%s\t%d\t%.4f\t%.4f\t%.4f\n", figure, f, n, ratios[f], low, high)
	}
}
