// Power writes cost/power.tsv: the coefficients of the law of power, fitted to the rows of
// validation/rows/power, with what rows say whose hardware or model was left out of the fit:
//
//	go run ./validation/fit/power -out cost/power.tsv
package main

import (
	"bytes"
	"fmt"
	"math"

	"github.com/memwall/memwall/cost"
	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/validation"
	"github.com/memwall/memwall/validation/fit/internal/study"
	"github.com/memwall/memwall/validation/fit/internal/tables"
)

func main() { tables.Run("power", "out", "cost/power.tsv", fit) }

// fit solves the problem with all rows, and with parts left out for the band.
func fit() ([]byte, error) {
	_, runs, err := validation.Power()
	if err != nil {
		return nil, err
	}
	t, err := solve(runs, nil)
	if err != nil {
		return nil, err
	}
	errors := make([]coef.Errors, len(groupings))
	for i, g := range groupings {
		if errors[i], err = leaveOut(runs, g.key); err != nil {
			return nil, err
		}
		t.SetSpread(g.band, errors[i].Spread(0.9))
	}
	b := bytes.NewBuffer(t.Write())
	for i, g := range groupings {
		fmt.Fprintln(b, comment(t, g.name, &errors[i], g.band == cost.Measured))
	}
	return b.Bytes(), nil
}

// groupings are what is left out together, and the band that rests on it.
var groupings = []struct {
	name, band string
	key        func(*validation.PowerRun) string
}{
	{"hardware", cost.Unseen, func(r *validation.PowerRun) string { return r.Device.ID }},
	{"models", cost.Measured, func(r *validation.PowerRun) string { return r.Row.Ask.Model }},
}

// start are shares of the limit, and exponents; sigma how far they may differ. What "all" holds is wide, so the
// rows decide; a family differs by its process, a device by its clocks.
var (
	start = map[string]float64{"idle": 0.12, "memory": 0.6, "compute": 1.5, "memory_power": 0.5, "compute_power": 0.6, "knee": 8}
	share = map[string]float64{"all": 0.7, "family": 0.2, "device": 0.1}
	sigma = map[string]map[string]float64{"idle": share, "memory": share, "compute": share, "memory_power": {"all": 0.4},
		"compute_power": {"all": 0.4}, "knee": {"all": 0.5}}
)

// solve leaves rows out. A device with many rows counts as the root of their number, so that it does not
// drown the others.
func solve(runs []validation.PowerRun, out map[int]bool) (*coef.Table, error) {
	p := coef.Problem{Start: start, Sigma: sigma, Scale: 0.2}
	rows := map[string]float64{}
	for i := range runs {
		if !out[i] {
			rows[runs[i].Device.ID]++
		}
	}
	for i := range runs {
		r := &runs[i]
		if out[i] {
			continue
		}
		p.Rows = append(p.Rows, coef.Row{Name: r.Row.Name(), Uses: cost.Uses(r.Device), Measured: r.Watts,
			Weight:  1 / math.Sqrt(rows[r.Device.ID]),
			Predict: func(c []float64) float64 { return float64(r.Device.TDP.Value) * cost.Law(c, r.Load) }})
	}
	return p.Solve()
}

const folds = 8

// leaveOut predicts each row from a fit that has seen nothing of its group.
func leaveOut(runs []validation.PowerRun, key func(*validation.PowerRun) string) (e coef.Errors, err error) {
	for _, fold := range coef.Folds(len(runs), func(i int) string { return key(&runs[i]) }, folds) {
		out := map[int]bool{}
		for _, i := range fold {
			out[i] = true
		}
		t, err := solve(runs, out)
		if err != nil {
			return e, err
		}
		for _, i := range fold {
			r := &runs[i]
			watts, variance := cost.Predict(t, r.Device, r.Load)
			e.Log, e.Var = append(e.Log, math.Log(r.Watts/watts)), append(e.Var, variance)
		}
	}
	return e, nil
}

// comment sums up what rows say of fits that have not seen them: how far off, and how many lie in a band of
// what width.
func comment(t *coef.Table, name string, e *coef.Errors, measured bool) string {
	var off study.Errors
	for i, r := range e.Log {
		low, high := cost.Band(t, measured, 1, e.Var[i])
		off.AddBand(low, 1, high, math.Exp(r))
	}
	return fmt.Sprintf("# left out %s\trows %d\tmedian %.3f\tp90 %.3f\tcover %.3f\twidth %.3f", name, off.Rows(), off.Off(0.5),
		off.Off(0.9), off.Cover(), off.Width())
}
