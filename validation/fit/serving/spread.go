package main

import (
	"math"

	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/speed/serving"
)

// left is what the model says of a row that its coefficients did not see.
type left struct {
	serving.Closed
	perToken, first, throughput float64 // variances of the logarithms
}

// coverage of the bands.
const coverage = 0.9

// enough rows for a spread of an engine's own.
const enough = 100

// spreads adds how far rows that were left out are off, of all engines and of each.
func (s *servingRows) spreads(t *coef.Table, out map[*servingRow]left) {
	errs := map[string]*coef.Errors{}
	for _, r := range s.rows { // in order: sums depend on it
		l, ok := out[r]
		if !ok || !r.fit {
			continue
		}
		engine := serving.EngineOf(r.Ask.Engine)
		tpot, ttft := r.Got["tpot_ms"].Mid/1e3, r.Got["ttft_ms"].Mid/1e3
		add := func(kind string, measured, predicted, variance float64) {
			for _, name := range []string{kind, kind + "/" + engine} {
				if errs[name] == nil {
					errs[name] = &coef.Errors{}
				}
				errs[name].Log = append(errs[name].Log, math.Log(measured/predicted))
				errs[name].Var = append(errs[name].Var, variance)
			}
		}
		if tpot > 0 {
			add(serving.SpreadPerToken, tpot, l.PerToken, l.perToken)
		}
		if ttft > 0 {
			add(serving.SpreadFirst, ttft, l.First, l.first)
		}
		if tpot > 0 && ttft > 0 {
			add(serving.SpreadThroughput, r.throughput(ttft, tpot), l.Throughput, l.throughput)
		}
	}
	for name, e := range errs {
		if len(e.Log) >= enough {
			t.SetSpread(name, e.Spread(coverage))
		}
	}
}

// throughput that follows from the two times of a closed loop, in output tokens a second.
func (r *servingRow) throughput(first, perToken float64) float64 {
	n := float64(r.load.Output)
	return float64(r.load.Users) * n / (first + (n-1)*perToken)
}
