package main

import (
	"bytes"
	"fmt"

	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/validation/fit/internal/study"
)

// kernelWays are how kernels are left out of a fit: all of their device, all of about their size, or all that one report
// has of them: one release of a program on one device.
var kernelWays = []struct {
	name string
	key  func(k *kernelRows, i int) string
	k    int
}{
	{"devices out", func(k *kernelRows, i int) string { return k.rows[i].Device }, 12},
	{"sizes out", func(k *kernelRows, i int) string {
		r := k.rows[i]
		return fmt.Sprint(r.Kind, r.Size[len(r.Size)/3:])
	}, 8},
	{"reports out", func(k *kernelRows, i int) string { return k.rows[i].By + " " + k.rows[i].Device }, 12},
}

// leftOut gives for each way the seconds that a fit without the kernel predicts.
func (k *kernelRows) leftOut() ([][]float64, error) {
	out := make([][]float64, len(kernelWays))
	for w, way := range kernelWays {
		out[w] = make([]float64, len(k.rows))
		for _, fold := range coef.Folds(len(k.rows), func(i int) string { return way.key(k, i) }, way.k) {
			without := map[int]bool{}
			for _, i := range fold {
				without[i] = true
			}
			t, err := k.fitBy(func(i int) bool { return without[i] })
			if err != nil {
				return nil, err
			}
			for _, i := range fold {
				out[w][i] = valueOf(t, &k.fits[i])
			}
		}
	}
	return out, nil
}

// study lists the errors of kernels that were left out.
func (k *kernelRows) study(b *bytes.Buffer, left [][]float64) {
	for w, way := range kernelWays {
		groups := study.Groups{}
		for i, r := range k.rows {
			groups.Of("kernel\t"+r.Kind+" "+r.Format).Add(left[w][i], r.Seconds)
		}
		lines(b, way.name, groups)
	}
}

// folds lists what kernels were predicted to take by fits that lacked them, in microseconds: each way in turn; then by a
// table, and last what the datasheet allows.
func (k *kernelRows) folds(left [][]float64, t *coef.Table) []byte {
	b := bytes.NewBufferString("line\t")
	for _, way := range kernelWays {
		b.WriteString(way.name + ": us\t")
	}
	b.WriteString("shipped: us\tdatasheet: us\n")
	for i, r := range k.rows {
		fmt.Fprint(b, r.Line)
		for w := range kernelWays {
			fmt.Fprintf(b, "\t%.4g", 1e6*left[w][i])
		}
		fmt.Fprintf(b, "\t%.4g\t%.4g\n", 1e6*valueOf(t, &k.fits[i]), 1e6*k.roof[i])
	}
	return b.Bytes()
}

// valueOf a row by a table.
func valueOf(t *coef.Table, r *coef.Row) float64 {
	c := make([]float64, len(r.Uses))
	for i := range r.Uses {
		c[i] = t.At(r.Uses[i]).Value
	}
	return r.Predict(c)
}

// shipped lists the errors of the table that answers are made of, on the rows of single kernels.
func (k *kernelRows) shipped(b *bytes.Buffer, t *coef.Table) {
	groups := study.Groups{}
	for i, r := range k.rows {
		groups.Of("kernel\t"+r.Kind+" "+r.Format).Add(valueOf(t, &k.fits[i]), r.Seconds)
	}
	lines(b, "in sample", groups)
}
