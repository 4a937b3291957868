// Adam writes speed/adam.tsv: the share of a host's memory rate that Adam reaches there, fitted to the rows of
// validation/rows/host-adam.tsv, with how far off publishers are that a fit has not seen:
//
//	go run ./validation/fit/adam -out speed/adam.tsv
package main

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/validation"
	"github.com/memwall/memwall/validation/fit/internal/tables"
)

func main() { tables.Run("adam", "out", "speed/adam.tsv", fit) }

// fit solves the problem with all rows, and without each publisher for the band.
func fit() ([]byte, error) {
	rows, err := validation.HostAdams()
	if err != nil {
		return nil, err
	}
	table, err := solve(rows, "")
	if err != nil {
		return nil, err
	}
	var errors coef.Errors
	for _, who := range slices.Sorted(maps.Keys(publishers(rows))) {
		without, err := solve(rows, who)
		if err != nil {
			return nil, err
		}
		off, variance := off(rows, who, without)
		errors.Log, errors.Var = append(errors.Log, off), append(errors.Var, variance)
	}
	table.SetSpread(speed.AdamUse("", "").Name, errors.Spread(0.9))
	return table.Write(), nil
}

// off is how far the rows of a publisher are from a table on average, by their logarithms. They count once: what
// differs between hosts and launches differs between publishers.
func off(rows []validation.HostAdam, who string, t *coef.Table) (log, variance float64) {
	n := 0.0
	for i := range rows {
		if r := &rows[i]; r.Publisher() == who && r.Program == speed.DeepSpeedAdam {
			c := t.At(speed.AdamUse(r.Program, ""))
			log, variance, n = log+math.Log(share(r)/c.Value), c.Var, n+1
		}
	}
	return log / n, variance
}

func publishers(rows []validation.HostAdam) map[string]bool {
	out := map[string]bool{}
	for i := range rows {
		out[rows[i].Publisher()] = true
	}
	return out
}

// share of the host's memory rate that a step reached.
func share(r *validation.HostAdam) float64 {
	return r.Parameters * speed.AdamBytes / r.Seconds / float64(r.Host)
}

// solve leaves the rows of a publisher out. What is believed before any row is wide, so that the rows decide.
func solve(rows []validation.HostAdam, without string) (*coef.Table, error) {
	name := speed.AdamUse("", "").Name
	p := coef.Problem{Start: map[string]float64{name: 0.2},
		Sigma: map[string]map[string]float64{name: {"all": 2, "launch": 1, "program": 2}}, Scale: 0.2, Penalty: 1}
	for i := range rows {
		r := &rows[i]
		if r.Publisher() != without {
			p.Rows = append(p.Rows, coef.Row{Name: fmt.Sprint("host-adam:", r.Line),
				Uses: []coef.Use{speed.AdamUse(r.Program, r.Publisher())}, Measured: share(r), Weight: 1,
				Predict: func(c []float64) float64 { return c[0] }})
		}
	}
	return p.Solve()
}
