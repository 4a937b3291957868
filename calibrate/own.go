package calibrate

import (
	"fmt"
	"math"
	"slices"

	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/speed/stream"
)

// Own is how well a machine's figures of a kind agree: the variance of what its rows say about the device, in
// logarithms. It determines the band of such figures.
type Own struct {
	Table    string  `json:"table"`
	Key      string  `json:"key"`    // of the device, as in the table
	Figure   string  `json:"figure"` // as in the table
	Variance float64 `json:"variance"`
	Rows     int     `json:"rows"`
}

// ownOf returns the agreement of each of a table's figures with a band of its own. Repeated runs of a test count once.
func ownOf(table string, points []point) (out []Own) {
	by := map[string]map[string][]float64{}
	key := map[string]string{}
	for i := range points {
		x := &points[i]
		if x.Own == "" {
			continue
		}
		if by[x.Own] == nil {
			by[x.Own] = map[string][]float64{}
		}
		by[x.Own][x.test()] = append(by[x.Own][x.test()], math.Log(x.Observation.Value/x.predicted()))
		key[x.Own] = x.device()
	}
	for _, figure := range slices.Sorted(keys(by)) {
		var errors []float64
		for _, test := range slices.Sorted(keys(by[figure])) {
			errors = append(errors, coef.Mean(by[figure][test]))
		}
		if v, ok := coef.Scatter(errors); ok {
			out = append(out, Own{table, key[figure], figure, v, len(errors)})
		}
	}
	return out
}

// test identifies the test of an observation: equal ones are repeated runs.
func (x *point) test() string {
	o := x.Observation
	return fmt.Sprint(o.Model, " ", o.Weights, " ", o.Test, " ", o.Prompt, " ", o.Answer, " ", o.Depth, " ", o.Concurrency, " ", o.Devices,
		" ", o.Flash, " ", o.UBatch, " ", o.TypeK, " ", o.TypeV)
}

// device returns the device key of the coefficients.
func (x *point) device() string {
	for _, u := range x.Uses {
		for _, l := range u.Levels {
			if l.Name == deviceLevel {
				return l.Key
			}
		}
	}
	return ""
}

func (o *Own) check() error {
	switch {
	case o.Table == "" || o.Key == "" || o.Figure == "" || len(o.Table)+len(o.Key)+len(o.Figure) > maxWord:
		return fmt.Errorf("table, key and figure name it")
	case !(o.Variance >= 0 && o.Variance <= maxOffset):
		return fmt.Errorf("variance %g is none", o.Variance)
	}
	return nil
}

// setSpreads sets the formula's repeatability and machine variation from the rows of single streams.
func (f *Formula) setSpreads(t *coef.Table, figure string) {
	f.Repeat = t.At(coef.Use{Name: stream.Repeat + figure}).Value
	f.Machines = t.At(coef.Use{Name: stream.Machines + figure}).Value
}
