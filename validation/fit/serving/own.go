package main

import (
	"math"
	"slices"
	"strings"

	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/speed/serving"
)

// report is what one collection of runs has of one model and one version of an engine on one device.
type report struct{ collection, model, device, engine, kind string }

// own sets what a server's own figures are worth: how far off each row of a report is from what the others of it say,
// by how much these scatter.
func (s *servingRows) own(t *coef.Table, ways []map[*servingRow]left) {
	by := map[string]*coef.Errors{}
	for _, out := range ways {
		order, errors := s.reports(out)
		for _, r := range order {
			if by[r.kind] == nil {
				by[r.kind] = &coef.Errors{}
			}
			within(by[r.kind], errors[r])
		}
	}
	for kind, e := range by {
		if len(e.Log) >= enough {
			t.SetSpread(serving.OwnSpread+kind, e.Spread(coverage))
		}
	}
}

// reports gives how far the figures of each are off, in the order of their first rows.
func (s *servingRows) reports(out map[*servingRow]left) (order []report, errors map[report][]float64) {
	errors = map[report][]float64{}
	for _, row := range s.rows {
		l, ok := out[row]
		if !ok || !row.fit || row.static || row.Ask.Disaggregated != nil {
			continue
		}
		measured := row.measured()
		collection, _, _ := strings.Cut(row.Source, ":") // each of its runs has a name behind that
		for _, kind := range []string{serving.SpreadPerToken, serving.SpreadFirst, serving.SpreadThroughput} {
			if measured[kind] == 0 {
				continue
			}
			r := report{collection, row.Ask.Model, row.device, row.Ask.Engine, kind}
			if errors[r] == nil {
				order = append(order, r)
			}
			errors[r] = append(errors[r], math.Log(measured[kind]/l.figures[kind]))
		}
	}
	return order, errors
}

// within adds how far each error is from the mean of the others, beside the scatter of these.
func within(e *coef.Errors, errors []float64) {
	for i, x := range errors {
		others := slices.Delete(slices.Clone(errors), i, i+1)
		if v, ok := coef.Scatter(others); ok {
			e.Log, e.Var = append(e.Log, x-coef.Mean(others)), append(e.Var, v)
		}
	}
}
