package main

import (
	"fmt"
	"maps"
	"strings"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/validation/kernels"
)

// kernelRows are measurements of kernels beside their laws.
type kernelRows struct {
	rows []*kernels.Row
	fits []coef.Row
	roof []float64 // seconds by the datasheet alone
}

func loadKernels() (*kernelRows, error) {
	rows, err := kernels.Load()
	if err != nil {
		return nil, err
	}
	out := &kernelRows{}
	for i := range rows {
		r := &rows[i]
		if r.Refused != "" {
			continue
		}
		d, _, err := hardware.Find(r.Device)
		if err != nil {
			return nil, err
		}
		if k, ok := law(r, d); ok {
			out.rows, out.roof = append(out.rows, r), append(out.roof, k.Roof)
			out.fits = append(out.fits, coef.Row{Name: fmt.Sprint("kernels:", r.Line), Uses: k.Uses, Predict: k.Seconds,
				Measured: r.Seconds, Weight: 1})
		}
	}
	return out, nil
}

// fit takes the rows that are not left out.
func (k *kernelRows) fit(out func(r *kernels.Row) bool) (*coef.Table, error) {
	return k.fitBy(func(i int) bool { return out != nil && out(k.rows[i]) })
}

func (k *kernelRows) fitBy(out func(i int) bool) (*coef.Table, error) {
	p := &coef.Problem{Start: start, Sigma: alone(sigmas()), Enough: 1e-6}
	for i := range k.fits {
		if !out(i) {
			p.Rows = append(p.Rows, k.fits[i])
		}
	}
	return p.Solve()
}

// alone leaves out the levels of whole steps, of which single kernels say nothing.
func alone(sigma map[string]map[string]float64) map[string]map[string]float64 {
	out := map[string]map[string]float64{}
	for name, levels := range sigma {
		out[name] = maps.Clone(levels)
		maps.DeleteFunc(out[name], func(level string, _ float64) bool { return strings.HasPrefix(level, "step") })
	}
	return out
}
