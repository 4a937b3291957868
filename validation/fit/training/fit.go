package main

import (
	"bytes"
	"fmt"
	"math"
	"os"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/stat"
	"github.com/memwall/memwall/train/step"
	"github.com/memwall/memwall/validation"
)

// row is a measurement with the model that predicts it.
type row struct {
	validation.TrainSpeed
	model  *step.Model
	family string
	weight float64
}

func load() (rows []row, err error) {
	all, err := validation.TrainSpeeds()
	if err != nil {
		return nil, err
	}
	t, err := validation.NewTrainer()
	if err != nil {
		return nil, err
	}
	refused := map[string]int{}
	for i := range all {
		if all[i].Refused != "" {
			refused[all[i].Refused]++
			continue
		}
		m, err := t.Compile(&all[i])
		if err != nil {
			refused[err.Error()]++
			continue
		}
		if s := m.Tokens() / float64(all[i].Count) / all[i].Rate; s < m.Floor() {
			refused["faster than the device can be"]++
			continue
		}
		d, _, err := hardware.Find(all[i].Device)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row{TrainSpeed: all[i], model: m, family: step.Family(d)})
	}
	for why, n := range refused {
		fmt.Fprintf(os.Stderr, "refused %4d %s\n", n, why)
	}
	weigh(rows)
	return rows, nil
}

// weigh rows less that have many of their publisher beside them.
func weigh(rows []row) {
	n := map[string]float64{}
	for i := range rows {
		n[rows[i].Publisher()]++
	}
	for i := range rows {
		rows[i].weight = math.Pow(20/math.Max(20, n[rows[i].Publisher()]), 0.3)
	}
}

// The loss turns from squares to absolute values at scale; penalty weighs what is believed before any row.
const (
	scale   = 0.08
	penalty = 1
)

// fit finds the coefficients from the rows but some. from is a table nearby, or nil.
func fit(rows []row, without map[int]bool, from *coef.Table) (*coef.Table, error) {
	p := coef.Problem{Start: step.Start, Sigma: step.Sigma, Scale: scale, Penalty: penalty, From: from}
	for i := range rows {
		if r := &rows[i]; !without[i] {
			p.Rows = append(p.Rows, r.fitted())
		}
	}
	return p.Solve()
}

// fitted is the row with the coefficients that it depends on.
func (r *row) fitted() coef.Row {
	all := r.model.Uses()
	c := make([]float64, len(all))
	for i, u := range all {
		c[i] = step.Start[u.Name]
	}
	base := r.model.Seconds(c)
	var uses []coef.Use
	var at []int
	for i, u := range all {
		start := c[i]
		if c[i] *= 2; r.model.Seconds(c) != base {
			uses, at = append(uses, u), append(at, i)
		}
		c[i] = start
	}
	return coef.Row{Name: r.Name(), Uses: uses, Measured: r.Rate, Weight: r.weight, Predict: func(x []float64) float64 {
		for i, k := range at {
			c[k] = x[i]
		}
		return r.model.PerDevice(r.model.Seconds(c))
	}}
}

// guess is a prediction of a row, in tokens a second of a device.
type guess struct{ rate, variance, low, high float64 }

func (r *row) predict(t *coef.Table) guess {
	p := r.model.With(t)
	s := p.Predict()
	return guess{rate: s.TokensPerDevice.Mid, variance: p.Variance()}
}

// leaveOut predicts every row from the others, whole groups left out together.
func leaveOut(rows []row, table *coef.Table, key func(*row) string) ([]guess, error) {
	groups := map[string]map[int]bool{}
	for i := range rows {
		k := key(&rows[i])
		if groups[k] == nil {
			groups[k] = map[int]bool{}
		}
		groups[k][i] = true
	}
	outs := make([]guess, len(rows))
	for _, without := range groups {
		t, err := fit(rows, without, table)
		if err != nil {
			return nil, err
		}
		for i := range without {
			outs[i] = rows[i].predict(t)
		}
	}
	return outs, nil
}

// constant predicts every row by a rule of thumb: the median MFU of all rows but those of its publisher.
func constant(rows []row) []guess {
	outs, by := make([]guess, len(rows)), map[string]float64{}
	for i := range rows {
		publisher := rows[i].Publisher()
		if by[publisher] == 0 {
			by[publisher] = othersMFU(rows, publisher)
		}
		m := rows[i].model
		outs[i].rate = m.PerDevice(m.AtPeak() / by[publisher])
	}
	return outs
}

// othersMFU is the median MFU that all but one publisher reach.
func othersMFU(rows []row, but string) float64 {
	var others []float64
	for i := range rows {
		if r := &rows[i]; r.Publisher() != but {
			others = append(others, r.model.AtPeak()/(r.model.Tokens()/float64(r.Count)/r.Rate))
		}
	}
	return stat.Median(others)
}

// bands sets the spreads of a table: what the errors of left-out rows call for.
func bands(t *coef.Table, rows []row, all [][]guess) {
	by := map[string]*coef.Errors{}
	for _, outs := range all {
		for i, o := range outs {
			name := rows[i].model.Spread()
			if by[name] == nil {
				by[name] = &coef.Errors{}
			}
			e := by[name]
			e.Log, e.Var = append(e.Log, math.Log(o.rate/rows[i].Rate)), append(e.Var, o.variance)
		}
	}
	for name, e := range by {
		t.SetSpread(name, e.Spread(0.9))
	}
	for _, outs := range all {
		for i := range outs {
			s, _ := t.Spread(rows[i].model.Spread())
			fast, slow := s.Band(1, outs[i].variance) // of the time
			outs[i].low, outs[i].high = outs[i].rate/slow, outs[i].rate/fast
		}
	}
}

// writeFolds gives the predictions of rows by the fits that lacked them, with their bands, in tokens a second of a
// device.
// Last comes the rule of thumb.
func writeFolds(rows []row, all [][]guess) []byte {
	var b bytes.Buffer
	fmt.Fprintln(&b, "line\tsources\tlow\thigh\tmodels\tlow\thigh\tfamilies\tlow\thigh\tconstant MFU")
	thumb := constant(rows)
	for i := range rows {
		fmt.Fprintf(&b, "%d", rows[i].Line)
		for _, o := range all {
			fmt.Fprintf(&b, "\t%.4g\t%.4g\t%.4g", o[i].rate, o[i].low, o[i].high)
		}
		fmt.Fprintf(&b, "\t%.4g\n", thumb[i].rate)
	}
	return b.Bytes()
}
