// Package coef holds coefficients with inheritance. A coefficient of a formula, such as the share of a device's memory
// bandwidth that a decode step reaches, is a start value times the exponentials of offsets at several levels: for
// example backend, device family, device and format. A level without an offset contributes nothing, so that hardware
// without measurements inherits from its family, its vendor and all others, and missing offsets widen the band by as
// much as such offsets vary elsewhere.
//
// coef.go has the table that predictions read, solve.go the fit that writes it, spread.go the bands, scatter.go those
// of a machine measured by its owner.
package coef

import (
	"math"
	"slices"
)

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

func (k term) place() place { return place{k.level, k.key} }

// place is a level and a key that applies there. What the table says there of all coefficients is one list, because
// those of a kernel share their places.
type place struct{ level, key string }

// saying is what a place says of a coefficient.
type saying struct {
	coef string
	Offset
}

// prior is the standard deviation of a coefficient's offsets at a level, before anything is known of them.
type prior struct {
	coef  string
	sigma float64
}

// heard is all that a table says at a place.
type heard struct {
	offsets []saying
	priors  []prior
}

// Offset is a level's contribution to the logarithm of a coefficient, and the number of rows it rests on.
type Offset struct {
	Value, StdErr float64
	Rows          int
}

// Table is a set of coefficients with their offsets.
type Table struct {
	start   map[string]float64
	priors  map[string][]prior // by level
	offsets map[place][]saying
	spreads map[string]Spread
	own     map[string]float64
}

// NewTable is a table without coefficients.
func NewTable() *Table {
	return &Table{map[string]float64{}, map[string][]prior{}, map[place][]saying{}, map[string]Spread{}, nil}
}

// Has reports whether the table knows the coefficient.
func (t *Table) Has(name string) bool { _, ok := t.start[name]; return ok }

// At gives a coefficient: exp(ln start + sum of by × offset).
func (t *Table) At(u Use) Coef { return t.sum(&u, t.places(u.Levels, nil)) }

// Each gives the coefficients of a list, in their order. Neighbours that share their levels look these up once.
func (t *Table) Each(uses []Use, f func(i int, c Coef)) {
	var shared []Level
	places := make([]heard, 0, 32)
	for i := range uses {
		u := &uses[i]
		if len(u.Levels) == 0 || len(shared) < len(u.Levels) || &shared[0] != &u.Levels[0] {
			shared, places = u.Levels, t.places(u.Levels, places[:0])
		}
		f(i, t.sum(u, places))
	}
}

// Values gives coefficients, each by its number in index, that hear the same levels: those that say nothing of one
// leave it alone. Each place is looked up once, whatever it says.
func (t *Table) Values(index map[string]int, levels []Level, out []Coef) {
	for name, i := range index {
		out[i] = Coef{Value: t.start[name]}
	}
	ln := make([]float64, len(out))
	for i := range levels {
		l := &levels[i]
		said := t.offsets[place{l.Name, l.Key}]
		for j := range said {
			if at, ok := index[said[j].coef]; ok {
				ln[at] += l.by() * said[j].Value
				out[at].Var += square(l.by() * said[j].StdErr)
			}
		}
		for _, p := range t.priors[l.Name] {
			if at, ok := index[p.coef]; ok && p.sigma > 0 && find(said, p.coef) == nil {
				out[at].Var += square(l.by() * p.sigma)
				out[at].Missing++
			}
		}
	}
	for i := range out {
		out[i].Value *= math.Exp(ln[i])
	}
}

// places adds what the table says at each of some levels.
func (t *Table) places(levels []Level, out []heard) []heard {
	for i := range levels {
		l := &levels[i]
		out = append(out, heard{t.offsets[place{l.Name, l.Key}], t.priors[l.Name]})
	}
	return out
}

// sum of what the places of a coefficient's levels say of it.
func (t *Table) sum(u *Use, places []heard) (out Coef) {
	ln := 0.0
	for i := range u.Levels {
		l := &u.Levels[i]
		if o := find(places[i].offsets, u.Name); o != nil {
			ln += l.by() * o.Value
			out.Var += square(l.by() * o.StdErr)
			continue
		}
		if s := deviation(places[i].priors, u.Name); s > 0 {
			out.Var += square(l.by() * s)
			out.Missing++
		}
	}
	out.Value = t.start[u.Name] * math.Exp(ln)
	return out
}

// find is what a place says of a coefficient; nil when nothing.
func find(list []saying, name string) *Offset {
	for i := range list {
		if list[i].coef == name {
			return &list[i].Offset
		}
	}
	return nil
}

// deviation of a coefficient's offsets; 0 where none is expected.
func deviation(list []prior, name string) float64 {
	for i := range list {
		if list[i].coef == name {
			return list[i].sigma
		}
	}
	return 0
}

// expect sets that deviation at a level.
func (t *Table) expect(name, level string, sigma float64) {
	t.priors[level] = append(t.priors[level], prior{name, sigma})
}

// offset of a term; ok is false when no row spoke of it.
func (t *Table) offset(k term) (Offset, bool) {
	if o := find(t.offsets[k.place()], k.coef); o != nil {
		return *o, true
	}
	return Offset{}, false
}

// put an offset. Tables may share lists, which stay as they are.
func (t *Table) put(k term, o Offset) {
	list := slices.Clone(t.offsets[k.place()])
	if old := find(list, k.coef); old != nil {
		*old = o
	} else {
		list = append(list, saying{k.coef, o})
	}
	t.offsets[k.place()] = list
}

// Offset of a coefficient at a level; ok is false when no row spoke of it.
func (t *Table) Offset(name, level, key string) (Offset, bool) {
	return t.offset(term{name, level, key})
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
		if o, ok := t.Offset(name, levels[i].Name, levels[i].Key); ok && o.Rows > 0 {
			return levels[i].Name, o.Rows
		}
	}
	return "", 0
}
