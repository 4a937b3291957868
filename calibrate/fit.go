package calibrate

import (
	"fmt"
	"math"
	"slices"

	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/stat"
)

// Predictor finds the formula behind an observation.
type Predictor interface {
	// Formula returns what predicts the observation; the error names what is unknown.
	Formula(o *Observation) (*Formula, error)
}

// Formula predicts the value of an observation from coefficients.
type Formula struct {
	// Table is the name of the coefficient table, Coefs the table.
	Table string
	Coefs *coef.Table
	Uses  []coef.Use
	// Value returns the prediction in the unit of the observation, for coefficients in the order of Uses.
	Value func(c []float64) float64
	// Best is the best value that the datasheet allows; 0 if unknown. Anything better was not measured with this model
	// on this device.
	Best float64
	// Repeat is the standard deviation of one machine's figures not explained by offsets, Machines that between machines
	// with the same device, both in logarithms. They determine how many figures outweigh the table.
	Repeat, Machines float64
	// Own is the table's name for such a figure measured on the user's machine; "" if it has no band for it.
	Own string
}

// Predicted returns the value at the table's own coefficients.
func (f *Formula) Predicted() float64 { return f.Value(f.start()) }

// start returns those coefficients.
func (f *Formula) start() []float64 {
	out := make([]float64, len(f.Uses))
	for i, u := range f.Uses {
		out[i] = f.Coefs.At(u).Value
	}
	return out
}

// deviceLevel is the level of coefficients that belong to a device.
const deviceLevel = "device"

// point is an observation with its formula at the table's coefficients.
type point struct {
	*Observation
	*Formula
	base []float64
}

func (p *point) predicted() float64 { return p.Formula.Value(p.base) }

// Fit fits the offsets of the observed devices. Everything learned from others' measurements is held fixed; the prior
// of an offset is as wide as the table's uncertainty about the device and the variation between machines.
func Fit(all []Observation, p Predictor) (*Profile, []Refusal, error) {
	by := map[string][]point{}
	var refused []Refusal
	for i := range all {
		x, why := newPoint(&all[i], p)
		if why != nil {
			refused = append(refused, *why)
			continue
		}
		by[x.Table] = append(by[x.Table], *x)
	}
	out := &Profile{Schema: Schema}
	var before, after []float64
	for _, name := range slices.Sorted(keys(by)) {
		points := by[name]
		offsets, err := solve(points)
		if err != nil {
			return nil, refused, err
		}
		for i := range offsets {
			offsets[i].Table = name
		}
		out.Offsets = append(out.Offsets, offsets...)
		out.Observations += len(points)
		out.Own = append(out.Own, ownOf(name, points)...)
		b, a, err := errorsOf(points)
		if err != nil {
			return nil, refused, err
		}
		before, after = append(before, b...), append(after, a...)
	}
	out.Before, out.After = typical(before), typical(after)
	return out, refused, nil
}

func keys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// beyond is the tolerance for exceeding the datasheet, whose rates are rounded and whose clocks are boosted; apart is
// the ratio to the prediction beyond which a measurement must be of something else.
const (
	beyond = 1.1
	apart  = 5
)

func newPoint(o *Observation, p Predictor) (*point, *Refusal) {
	refuse := func(field, value, why string) (*point, *Refusal) {
		return nil, &Refusal{o.At, field, clip(value), why}
	}
	f, err := p.Formula(o)
	if err != nil {
		return refuse("", "", err.Error())
	}
	x := &point{o, f, f.start()}
	value, unit := fmt.Sprintf("%.4g", o.Value), o.Test.Unit()
	mid := x.predicted()
	ratio := o.Value / mid
	over := o.Value / f.Best
	if unit != "tokens/s" {
		over = 1 / over
	}
	switch {
	case !(mid > 0) || math.IsInf(mid, 0):
		return refuse("", "", "has no prediction")
	case f.Best > 0 && over > beyond:
		return refuse(string(o.Test), value, fmt.Sprintf("is beyond what the datasheet allows, %.4g %s: is it this model on this "+
			"device, in %s?", f.Best, unit, unit))
	case ratio > apart || ratio < 1.0/apart:
		return refuse(string(o.Test), value, fmt.Sprintf("is %.2g times the prediction of %.4g %s: is it this model on this device, in %s?",
			ratio, mid, unit, unit))
	}
	return x, nil
}

// solve fits the remainder of each coefficient, as a factor, per device.
func solve(points []point) ([]Offset, error) {
	p := coef.Problem{Start: map[string]float64{}, Sigma: map[string]map[string]float64{}, Scale: steadiest(points)}
	for i := range points {
		p.Rows = append(p.Rows, points[i].row(&p))
	}
	t, err := p.Solve()
	if err != nil {
		return nil, err
	}
	return offsetsOf(&p, t), nil
}

// steadiest returns the smallest standard deviation of repeated figures; others are weighted down accordingly.
func steadiest(points []point) float64 {
	least := math.Inf(1)
	for i := range points {
		least = math.Min(least, points[i].Repeat)
	}
	return least
}

// row returns a row of the least squares problem, whose coefficients are factors on those of the table.
func (x *point) row(p *coef.Problem) coef.Row {
	uses := make([]coef.Use, len(x.Uses))
	for i, u := range x.Uses {
		p.Start[u.Name] = 1
		uses[i] = coef.Use{Name: u.Name}
		own := slices.IndexFunc(u.Levels, func(l coef.Level) bool { return l.Name == deviceLevel })
		if own < 0 {
			continue
		}
		uses[i].Levels = u.Levels[own : own+1]
		doubt := max(p.Sigma[u.Name][deviceLevel], x.doubt(u.Name, u.Levels[own].Key))
		p.Sigma[u.Name] = map[string]float64{deviceLevel: doubt}
	}
	steady := p.Scale / x.Repeat
	return coef.Row{Name: x.At, Uses: uses, Measured: x.Observation.Value, Weight: steady * steady, Predict: x.scaled()}
}

// doubt returns the prior standard deviation of a machine's offset: the table's uncertainty and the variation between
// machines.
func (x *point) doubt(name, key string) float64 {
	device := x.Coefs.At(coef.Use{Name: name, Levels: []coef.Level{{Name: deviceLevel, Key: key}}})
	return math.Sqrt(device.Var + x.Machines*x.Machines)
}

func (x *point) scaled() func([]float64) float64 {
	c := make([]float64, len(x.base))
	return func(by []float64) float64 {
		for i := range c {
			c[i] = x.base[i] * by[i]
		}
		return x.Formula.Value(c)
	}
}

func offsetsOf(p *coef.Problem, t *coef.Table) (out []Offset) {
	seen := map[[2]string]bool{}
	for i := range p.Rows {
		for _, u := range p.Rows[i].Uses {
			for _, l := range u.Levels {
				o, ok := t.Offset(u.Name, l.Name, l.Key)
				if k := [2]string{u.Name, l.Key}; ok && !seen[k] {
					seen[k] = true
					out = append(out, Offset{Coefficient: u.Name, Key: l.Key, Value: round(o.Value), StdErr: round(o.StdErr), Rows: o.Rows})
				}
			}
		}
	}
	return out
}

func round(x float64) float64 { return math.Round(x*1e4) / 1e4 }

// folds is the number of folds for cross-validation.
const folds = 10

// errorsOf returns |ln(predicted/measured)| of each observation, by the table alone and by a calibration with the other
// observations; the second is empty for a single observation.
func errorsOf(points []point) (before, after []float64, err error) {
	for i := range points {
		before = append(before, math.Abs(math.Log(points[i].predicted()/points[i].Observation.Value)))
	}
	if len(points) < 2 {
		return before, nil, nil
	}
	for _, fold := range coef.Folds(len(points), func(i int) string { return points[i].At }, min(folds, len(points))) {
		var rest []point
		for i := range points {
			if !slices.Contains(fold, i) {
				rest = append(rest, points[i])
			}
		}
		if len(rest) == 0 {
			continue
		}
		offsets, err := solve(rest)
		if err != nil {
			return nil, nil, err
		}
		for _, i := range fold {
			after = append(after, math.Abs(math.Log(points[i].with(offsets)/points[i].Observation.Value)))
		}
	}
	return before, after, nil
}

// with returns the prediction with offsets applied.
func (x *point) with(offsets []Offset) float64 {
	by := make([]float64, len(x.Uses))
	for i, u := range x.Uses {
		by[i] = 1
		for _, l := range u.Levels {
			for _, o := range offsets {
				if l.Name == deviceLevel && o.Coefficient == u.Name && o.Key == l.Key {
					by[i] = math.Exp(o.Value)
				}
			}
		}
	}
	return x.scaled()(by)
}

// typical returns the median error as a fraction; nil if there are none.
func typical(x []float64) *float64 {
	if len(x) == 0 {
		return nil
	}
	m := round(math.Expm1(stat.Median(x)))
	return &m
}
