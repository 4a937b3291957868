// Package coef holds coefficients that inherit. A coefficient of a formula, such as the share of a device's
// memory rate that a decode step reaches, is a start value times the exponentials of offsets at several
// levels: one for the backend, one for the family of the device, one for the device itself, one for the
// format. A level without an offset contributes nothing, so that hardware without measurements of its own
// inherits from its family, its vendor and all others, and its missing offsets widen the band by as much as
// such offsets vary elsewhere.
//
// coef.go has the table that predictions read, solve.go the fit that writes it, spread.go the bands, scatter.go those of a
// machine that was measured by its owner.
package coef

import "math"

// Level is a step of inheritance and the key that applies there: {"family", "ada"}. By multiplies the
// offset: the value of a covariate; 0 means 1.
type Level struct {
	Name, Key string
	By        float64
}

func (l *Level) by() float64 {
	if l.By == 0 {
		return 1
	}
	return l.By
}

// Use is a coefficient that a formula needs, with the levels that apply.
type Use struct {
	Name   string
	Levels []Level
}

// Coef is the value of a coefficient.
type Coef struct {
	Value float64
	// Var is the variance of its logarithm: the errors of the offsets that were fitted, and the prior variance
	// of those that are missing.
	Var float64
	// Missing are levels without an offset.
	Missing int
}

// term names an offset.
type term struct{ coef, level, key string }

// Offset is what a level adds to the logarithm of a coefficient, and on how many rows it rests.
type Offset struct {
	Value, StdErr float64
	Rows          int
}

// Table is a set of coefficients with their offsets.
type Table struct {
	start   map[string]float64
	sigma   map[term]float64 // key "": the prior standard deviation of a level's offsets
	offsets map[term]Offset
	spreads map[string]Spread
	own     map[string]float64
}

// NewTable is a table without coefficients.
func NewTable() *Table {
	return &Table{map[string]float64{}, map[term]float64{}, map[term]Offset{}, map[string]Spread{}, nil}
}

// Has reports whether the table knows the coefficient.
func (t *Table) Has(name string) bool { _, ok := t.start[name]; return ok }

// At gives a coefficient: exp(ln start + sum of by × offset).
func (t *Table) At(u Use) Coef {
	ln, out := 0.0, Coef{}
	for i := range u.Levels {
		l := &u.Levels[i]
		if o, ok := t.offsets[term{u.Name, l.Name, l.Key}]; ok {
			ln += l.by() * o.Value
			out.Var += square(l.by() * o.StdErr)
			continue
		}
		if s := t.sigma[term{u.Name, l.Name, ""}]; s > 0 {
			out.Var += square(l.by() * s)
			out.Missing++
		}
	}
	out.Value = t.start[u.Name] * math.Exp(ln)
	return out
}

// Offset of a coefficient at a level; ok is false when no row spoke of it.
func (t *Table) Offset(name, level, key string) (Offset, bool) {
	o, ok := t.offsets[term{name, level, key}]
	return o, ok
}

// Spread is how far predictions of a kind are off; ok is false when nothing was measured.
func (t *Table) Spread(kind string) (Spread, bool) { s, ok := t.spreads[kind]; return s, ok }

// SetSpread records it.
func (t *Table) SetSpread(kind string, s Spread) { t.spreads[kind] = s }

func square(x float64) float64 { return x * x }

// Nearest is the most special of some levels that has an offset of a coefficient, in the order given, and on how
// many rows that rests; "" when none has.
func (t *Table) Nearest(name string, levels ...Level) (level string, rows int) {
	for i := range levels {
		if o, ok := t.offsets[term{name, levels[i].Name, levels[i].Key}]; ok && o.Rows > 0 {
			return levels[i].Name, o.Rows
		}
	}
	return "", 0
}
