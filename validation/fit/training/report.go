package main

import (
	"fmt"
	"maps"
	"math"
	"os"
	"slices"

	"github.com/memwall/memwall/stat"
)

type reporter struct {
	rows    []row
	verbose bool
}

// print the errors of predictions, by publisher, class of run and device.
func (r *reporter) print(name string, outs []guess) {
	errs := map[string][]float64{}
	for i, o := range outs {
		x := &r.rows[i]
		e := o.rate/x.Rate - 1
		for _, k := range []string{"", "source " + x.Publisher(), "kind " + x.model.Spread() + " " + x.Training.Method,
			"family " + x.family + " " + x.Training.Precision} {
			errs[k] = append(errs[k], e)
		}
		if r.verbose {
			errs["model "+x.Model] = append(errs["model "+x.Model], e)
		}
	}
	fmt.Fprintf(os.Stderr, "== %s\n", name)
	for _, k := range slices.Sorted(maps.Keys(errs)) {
		e := errs[k]
		fmt.Fprintf(os.Stderr, "%-60s %5d  median %5.1f p90 %6.1f bias %+5.1f\n", k, len(e), 100*stat.Median(sizes(e)),
			100*stat.Quantile(sizes(e), .9), 100*stat.Median(e))
	}
	if r.verbose {
		r.worst(outs)
	}
}

func (r *reporter) worst(outs []guess) {
	order := make([]int, len(outs))
	for i := range order {
		order[i] = i
	}
	off := func(i int) float64 { return math.Abs(math.Log(outs[i].rate / r.rows[i].Rate)) }
	slices.SortFunc(order, func(a, b int) int { return int(math.Copysign(1, off(b)-off(a))) })
	for _, i := range order[:40] {
		x := &r.rows[i]
		p, t := &x.Plan, &x.Training
		fmt.Fprintf(os.Stderr, "   %+7.1f%% %s %s %s %dx%s %s %s t%d p%d v%d c%d e%d s%d b%d g%d %s %s\n", 100*(outs[i].rate/x.Rate-1),
			x.Name(), x.Model, t.Framework, x.Count, x.Device, t.Precision, t.Method,
			p.TP, p.PP, t.VPP, p.CP, p.EP, t.SequenceLength, t.MicroBatch, t.GlobalBatch, t.Recompute, t.Sharding)
	}
}

// coverage of the bands and their width.
func (r *reporter) coverage(name string, outs []guess) {
	inside, widths := 0.0, make([]float64, len(outs))
	for i, o := range outs {
		if o.low <= r.rows[i].Rate && r.rows[i].Rate <= o.high {
			inside++
		}
		widths[i] = (o.high - o.low) / o.rate
	}
	fmt.Fprintf(os.Stderr, "band %-20s coverage %5.1f width %5.1f\n", name, 100*inside/float64(len(outs)), 100*stat.Median(widths))
}

// sizes of errors, without their signs.
func sizes(errs []float64) []float64 {
	out := make([]float64, len(errs))
	for i, e := range errs {
		out[i] = math.Abs(e)
	}
	return out
}
