package main

import (
	"bytes"
	"fmt"
	"math"

	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/speed/serving"
)

// left is what the model says of a row: figures, and the variances of their logarithms.
type left struct{ figures, vars map[string]float64 }

// coverage of the bands.
const coverage = 0.9

// enough rows for a spread of an engine's own.
const enough = 100

// spreads adds how far rows that were left out are off, of all engines and of each, where evidence is so near.
func (s *servingRows) spreads(t *coef.Table, near string, ways ...map[*servingRow]left) {
	errs := map[string]*coef.Errors{}
	for _, out := range ways {
		for _, r := range s.rows { // in order: sums depend on it
			if l, ok := out[r]; ok && r.fit {
				r.errors(errs, near, l)
			}
		}
	}
	for name, e := range errs {
		if len(e.Log) >= enough {
			t.SetSpread(name, e.Spread(coverage))
		}
	}
}

// errors adds what a row says of each kind of figure, for all engines and for its own.
func (r *servingRow) errors(errs map[string]*coef.Errors, near string, l left) {
	for kind, measured := range r.measured() {
		for _, name := range []string{kind + near, kind + near + "/" + r.group()} {
			if errs[name] == nil {
				errs[name] = &coef.Errors{}
			}
			errs[name].Log = append(errs[name].Log, math.Log(measured/l.figures[kind]))
			errs[name].Var = append(errs[name].Var, l.vars[kind])
		}
	}
}

// measured figures of a closed loop, in seconds; its throughput follows from the two times.
func (r *servingRow) measured() map[string]float64 {
	out := map[string]float64{}
	for _, f := range r.figures() {
		if v, ok := r.Got[f.got]; ok {
			out[f.kind] = v.Mid * f.unit
		}
	}
	first, perToken := out[serving.SpreadFirst], out[serving.SpreadPerToken]
	if n := float64(r.load.Output); first > 0 && perToken > 0 && !r.static {
		out[serving.SpreadThroughput] = float64(r.load.Users) * n / (first + (n-1)*perToken)
	}
	return out
}

// folds lists what rows of closed loops were predicted to take by fits that lacked them, in milliseconds with their
// bands: each way in turn, the token first.
func (s *servingRows) folds(ways []map[*servingRow]left, t *coef.Table) []byte {
	b := bytes.NewBufferString("line\tplan out: tpot\tlow\thigh\tttft\tlow\thigh\tmodel out: tpot\tlow\thigh\tttft\tlow\thigh\n")
	for _, r := range s.rows {
		if r.static || !r.fit {
			continue
		}
		fmt.Fprint(b, r.Line)
		for _, way := range ways {
			for _, kind := range []string{serving.SpreadPerToken, serving.SpreadFirst} {
				mid := way[r].figures[kind]
				spread, _ := r.spread(t, kind)
				low, high := spread.Band(mid, way[r].vars[kind])
				fmt.Fprintf(b, "\t%.4g\t%.4g\t%.4g", 1e3*mid, 1e3*low, 1e3*high)
			}
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}
