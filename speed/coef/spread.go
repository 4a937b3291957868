package coef

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"github.com/memwall/memwall/stat"
)

// Spread turns what is known of the coefficients into a band. The deviation of a prediction's logarithm is
// s = sqrt(Residual² + Share × variance); the band reaches from mid × exp(Low × s) to mid × exp(High × s). Low
// and High are quantiles of the errors of rows that were left out, in units of their own s, so that the band
// holds what it says (locally weighted conformal prediction, arXiv:1604.04173).
type Spread struct {
	Residual, Share float64
	Low, High       float64
	Rows            int
}

// Band around a prediction whose logarithm has the given variance.
func (s Spread) Band(mid, variance float64) (low, high float64) {
	dev := s.deviation(variance)
	return mid * math.Exp(s.Low*dev), mid * math.Exp(s.High*dev)
}

// Times is the spread of errors that scatter more or less than others by a factor.
func (s Spread) Times(noise float64) Spread {
	s.Low, s.High = noise*s.Low, noise*s.High
	return s
}

func (s Spread) deviation(variance float64) float64 {
	return math.Sqrt(square(s.Residual) + s.Share*variance)
}

// Errors are the errors of held-out rows: Log is ln(measured/predicted), Var the expected variance of the prediction's logarithm.
type Errors struct{ Log, Var []float64 }

// Spread that holds the given share of the errors, as much of the rest below as above. Residual and Share are
// those under which the errors are likeliest, taken as Laplace distributed.
func (e *Errors) Spread(coverage float64) Spread {
	best, least := Spread{Residual: 0.1}, math.Inf(1)
	for _, residual := range []float64{0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.13, 0.16, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7} {
		for _, share := range []float64{0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1, 1.5, 2, 4} {
			s := Spread{Residual: residual, Share: share}
			if x := e.unlikelihood(s); x < least {
				best, least = s, x
			}
		}
	}
	units := e.units(best)
	best.Rows = len(units)
	if best.Rows > 0 {
		low, high := stat.PredictionInterval(units, coverage)
		best.Low, best.High = math.Min(0, low), math.Max(0, high)
	}
	return best
}

func (e *Errors) units(s Spread) []float64 {
	out := make([]float64, len(e.Log))
	for i, r := range e.Log {
		out[i] = r / s.deviation(e.Var[i])
	}
	return out
}

// unlikelihood is the negative mean logarithm of the Laplace likelihood, its scale at the best.
func (e *Errors) unlikelihood(s Spread) float64 {
	var logs, scale float64
	for i, r := range e.Log {
		d := s.deviation(e.Var[i])
		logs += math.Log(d)
		scale += math.Abs(r) / d
	}
	n := float64(len(e.Log))
	return logs/n + math.Log(scale/n)
}

var spreadFields = []struct {
	name string
	at   func(*Spread) *float64
}{
	{"residual", func(s *Spread) *float64 { return &s.Residual }},
	{"share", func(s *Spread) *float64 { return &s.Share }},
	{"low", func(s *Spread) *float64 { return &s.Low }},
	{"high", func(s *Spread) *float64 { return &s.High }},
}

func (t *Table) spread(kind, field string, v float64, rows string) (err error) {
	s := t.spreads[kind]
	if s.Rows, err = strconv.Atoi(rows); err != nil {
		return fmt.Errorf("rows %q is not a count", rows)
	}
	for _, f := range spreadFields {
		if f.name == field {
			*f.at(&s) = v
			t.spreads[kind] = s
			return nil
		}
	}
	return fmt.Errorf("spread has no %q", field)
}

func (s Spread) write(b *bytes.Buffer, kind string) {
	for _, f := range spreadFields {
		fmt.Fprintf(b, "spread\t%s\t%s\t%.3f\t\t%d\n", kind, f.name, *f.at(&s), s.Rows)
	}
}
