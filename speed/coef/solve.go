package coef

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Row is a measurement and the formula that predicts it from coefficients, given in the order of Uses.
type Row struct {
	Name    string // where it stands, for errors
	Uses    []Use
	Predict func(c []float64) float64
	// Slopes are the elasticities of Predict at c, in the order of Uses; nil finds them numerically.
	Slopes   func(c []float64) []float64
	Measured float64
	Weight   float64
}

// Problem is a fit to be solved. Start holds the values of the coefficients before any offset; Sigma the prior standard deviations
// of offsets by coefficient and level, in logarithms; levels without one are ignored. Known fixes its offsets; only the others are
// fitted.
type Problem struct {
	Start map[string]float64
	Sigma map[string]map[string]float64
	// Scale is where the loss turns from squares to absolute values, in logarithms (0: 0.08).
	Scale float64
	// Penalty weighs the priors against the rows (0: 1).
	Penalty float64
	// Enough is the share of the objective below which another round is not worth it (0: 1e-4).
	Enough float64
	Known  *Table
	// From is where the descent begins; nil: with no offsets. It changes how long the fit takes, not what it finds.
	From *Table
	Rows []Row
}

// Solve finds the offsets that minimise
//
//	sum of Weight × 2 (sqrt(1 + (r/Scale)²) - 1)  +  Penalty × sum of (offset/Sigma)²,   r = ln(predicted/measured)
//
// by Gauss-Newton with damping (Levenberg, 1944), slopes by coefficient numerically and from there to the
// offsets by the chain rule. The error names a row whose prediction is not a positive number.
func (p *Problem) Solve() (*Table, error) {
	s, err := p.newSolver()
	if err != nil {
		return nil, err
	}
	if err := s.descend(); err != nil {
		return nil, err
	}
	return s.table()
}

// link ties the value of a coefficient in a row to an offset.
type link struct {
	use, at int
	by      float64
}

type solver struct {
	p              *Problem
	scale, penalty float64
	terms          []term
	count          []int // rows that use each term
	sigma          []float64
	theta          []float64
	links          [][]link    // by row
	base           [][]float64 // by row and use: the part that is fixed
}

func (p *Problem) newSolver() (*solver, error) {
	s := &solver{p: p, scale: p.Scale, penalty: p.Penalty}
	if s.scale == 0 {
		s.scale = 0.08
	}
	if s.penalty == 0 {
		s.penalty = 1
	}
	index := s.collect()
	for i := range p.Rows {
		if err := s.row(&p.Rows[i], index); err != nil {
			return nil, err
		}
	}
	s.theta = make([]float64, len(s.terms))
	if p.From != nil {
		for j, k := range s.terms {
			o, _ := p.From.offset(k)
			s.theta[j] = o.Value
		}
	}
	return s, nil
}

// collect numbers the offsets that rows use, in an order that does not depend on the rows'.
func (s *solver) collect() map[term]int {
	index := map[term]int{}
	for i := range s.p.Rows {
		for _, u := range s.p.Rows[i].Uses {
			for _, l := range u.Levels {
				k := term{u.Name, l.Name, l.Key}
				if _, fixed := s.fixed(k); !fixed && s.p.Sigma[u.Name][l.Name] > 0 {
					index[k] = 0
				}
			}
		}
	}
	for k := range index {
		s.terms = append(s.terms, k)
	}
	slices.SortFunc(s.terms, compareTerms)
	s.count, s.sigma = make([]int, len(s.terms)), make([]float64, len(s.terms))
	for i, k := range s.terms {
		index[k], s.sigma[i] = i, s.p.Sigma[k.coef][k.level]
	}
	return index
}

func (s *solver) fixed(k term) (Offset, bool) {
	if s.p.Known == nil {
		return Offset{}, false
	}
	return s.p.Known.offset(k)
}

func (s *solver) row(r *Row, index map[term]int) error {
	var links []link
	base := make([]float64, len(r.Uses))
	for u := range r.Uses {
		start, ok := s.p.Start[r.Uses[u].Name]
		if !ok || start <= 0 {
			return fmt.Errorf("%s: coefficient %s has no start value", r.Name, r.Uses[u].Name)
		}
		base[u] = math.Log(start)
		for _, l := range r.Uses[u].Levels {
			k := term{r.Uses[u].Name, l.Name, l.Key}
			if o, fixed := s.fixed(k); fixed {
				base[u] += l.by() * o.Value
			} else if at, free := index[k]; free {
				if !slices.ContainsFunc(links, func(l link) bool { return l.at == at }) {
					s.count[at]++
				}
				links = append(links, link{u, at, l.by()})
			}
		}
	}
	s.links, s.base = append(s.links, links), append(s.base, base)
	if !(r.Measured > 0) {
		return fmt.Errorf("%s: measured %g, which is not a positive number", r.Name, r.Measured)
	}
	return nil
}

// values of a row's coefficients.
func (s *solver) values(i int, theta, out []float64) []float64 {
	out = append(out[:0], s.base[i]...)
	for _, l := range s.links[i] {
		out[l.use] += l.by * theta[l.at]
	}
	for u := range out {
		out[u] = math.Exp(out[u])
	}
	return out
}

// residual is ln(predicted/measured).
func (s *solver) residual(i int, c []float64) (float64, error) {
	r := &s.p.Rows[i]
	x := r.Predict(c)
	if !(x > 0) || math.IsInf(x, 0) {
		return 0, fmt.Errorf("%s: predicted %g, which is not a positive number", r.Name, x)
	}
	return math.Log(x / r.Measured), nil
}

func (s *solver) objective(theta []float64) (f float64, err error) {
	var c []float64
	for i := range s.p.Rows {
		c = s.values(i, theta, c)
		r, err := s.residual(i, c)
		if err != nil {
			return 0, err
		}
		f += s.p.Rows[i].Weight * 2 * (math.Sqrt(1+square(r/s.scale)) - 1)
	}
	for j, x := range theta {
		f += s.penalty * square(x/s.sigma[j])
	}
	return f, nil
}

// curvature is half the Gauss-Newton curvature of the objective: a diagonal, and for each row its weight times
// the outer product of its slopes, most of which are zero.
type curvature struct {
	diagonal []float64
	rows     []slopesOf
	// The rows' slopes one after another, times the square root of the weight: row i has from[i] to from[i+1].
	from  []int
	at    []int32
	slope []float64
}

type slopesOf struct {
	weight float64
	at     []int
	slope  []float64
}

// normal gives half the gradient of the objective and its curvature.
func (s *solver) normal() (grad []float64, curve *curvature, err error) {
	n := len(s.theta)
	grad, curve = make([]float64, n), &curvature{diagonal: make([]float64, n)}
	for j, x := range s.theta {
		w := s.penalty / square(s.sigma[j])
		grad[j], curve.diagonal[j] = w*x, w
	}
	var c, slopes []float64
	for i := range s.p.Rows {
		c = s.values(i, s.theta, c)
		r, err := s.residual(i, c)
		if err != nil {
			return nil, nil, err
		}
		if slopes, err = s.slopes(i, c, r, slopes); err != nil {
			return nil, nil, err
		}
		row := slopesOf{weight: s.p.Rows[i].Weight / (square(s.scale) * math.Sqrt(1+square(r/s.scale)))}
		row.add(s.links[i], slopes)
		for k, at := range row.at {
			grad[at] += row.weight * row.slope[k] * r
		}
		curve.rows = append(curve.rows, row)
	}
	curve.flatten()
	return grad, curve, nil
}

func (c *curvature) flatten() {
	c.from = append(c.from, 0)
	for i := range c.rows {
		r := &c.rows[i]
		root := math.Sqrt(r.weight)
		for k, at := range r.at {
			c.at, c.slope = append(c.at, int32(at)), append(c.slope, root*r.slope[k])
		}
		c.from = append(c.from, len(c.at))
	}
}

// add turns slopes by coefficient into slopes by offset.
func (o *slopesOf) add(links []link, slopes []float64) {
	for _, l := range links {
		x := slopes[l.use] * l.by
		if k := slices.Index(o.at, l.at); k >= 0 {
			o.slope[k] += x
		} else if x != 0 {
			o.at, o.slope = append(o.at, l.at), append(o.slope, x)
		}
	}
}

// times gives the product with a vector, the diagonal raised by the damping.
func (c *curvature) times(x, out []float64, damping []float64) {
	for j := range x {
		out[j] = (c.diagonal[j] + damping[j]) * x[j]
	}
	for i := range c.rows {
		at, slope := c.at[c.from[i]:c.from[i+1]], c.slope[c.from[i]:c.from[i+1]]
		dot := 0.0
		for k, j := range at {
			dot += slope[k] * x[j]
		}
		for k, j := range at {
			out[j] += dot * slope[k]
		}
	}
}

// fullDiagonal is the diagonal with what the rows add to it.
func (c *curvature) fullDiagonal() []float64 {
	out := slices.Clone(c.diagonal)
	for i := range c.rows {
		for k, at := range c.rows[i].at {
			out[at] += c.rows[i].weight * square(c.rows[i].slope[k])
		}
	}
	return out
}

// dense is the curvature as a matrix.
func (c *curvature) dense() *mat.SymDense {
	m := mat.NewSymDense(len(c.diagonal), nil)
	for j, x := range c.diagonal {
		m.SetSym(j, j, x)
	}
	raw := m.RawSymmetric()
	for i := range c.rows {
		r := &c.rows[i]
		for a, at := range r.at {
			for b, bt := range r.at {
				if bt >= at {
					raw.Data[at*raw.Stride+bt] += r.weight * r.slope[a] * r.slope[b]
				}
			}
		}
	}
	return m
}

// step of the numerical slopes, in logarithms.
const step = 1e-4

// slopes are the elasticities of a row's prediction.
func (s *solver) slopes(i int, c []float64, r float64, out []float64) ([]float64, error) {
	if f := s.p.Rows[i].Slopes; f != nil {
		return f(c), nil
	}
	out = out[:0]
	for u := range c {
		old := c[u]
		c[u] = old * math.Exp(step)
		up, err := s.residual(i, c)
		c[u] = old
		if err != nil {
			return nil, err
		}
		out = append(out, (up-r)/step)
	}
	return out, nil
}

// rounds of descent, and the share of the objective that so many rounds in a row must gain for another to be
// worth it, where the problem does not say.
const (
	rounds = 80
	enough = 1e-4
	inRow  = 3
)

func (s *solver) descend() error {
	f, err := s.objective(s.theta)
	damping, idle := 1e-3, 0
	for round := 0; round < rounds && err == nil && len(s.theta) > 0; round++ {
		grad, curve, err := s.normal()
		if err != nil {
			return err
		}
		lower, next, ok := s.improve(grad, curve, f, &damping)
		if !ok {
			return nil
		}
		gain := f - lower
		s.theta, f = next, lower
		if gain > cmp.Or(s.p.Enough, enough)*(1+f) {
			idle = 0
		} else if idle++; idle == inRow {
			return nil
		}
	}
	return err
}

// improve raises the damping until a step lowers the objective.
func (s *solver) improve(grad []float64, curve *curvature, f float64, damping *float64) (lower float64, next []float64, ok bool) {
	for range 12 {
		next := s.move(grad, curve, *damping)
		if next != nil {
			if lower, err := s.objective(next); err == nil && lower < f {
				*damping = math.Max(1e-9, *damping/5)
				return lower, next, true
			}
		}
		*damping *= 6
	}
	return f, nil, false
}

// longest step of an offset: beyond it the slopes say nothing.
const longest = 0.7

func (s *solver) move(grad []float64, curve *curvature, damping float64) []float64 {
	by := curve.solve(grad, damping)
	next := make([]float64, len(grad))
	for j := range next {
		next[j] = s.theta[j] - math.Max(-longest, math.Min(longest, by[j]))
	}
	return next
}

// Conjugate gradients stop when the residual is this share of what it was, or after so many steps.
const (
	exact = 1e-3
	most  = 600
)

// solve finds x with (curvature + damping × its diagonal) x = b, by conjugate gradients scaled by the diagonal
// (Hestenes and Stiefel, 1952): rows touch few of the offsets, so that a product costs little.
func (c *curvature) solve(b []float64, damping float64) []float64 {
	n := len(b)
	whole := c.fullDiagonal()
	damp := make([]float64, n)
	x, r, z, p, q := make([]float64, n), slices.Clone(b), make([]float64, n), make([]float64, n), make([]float64, n)
	for j := range whole {
		damp[j] = damping * whole[j]
		z[j] = r[j] / (whole[j] + damp[j])
	}
	copy(p, z)
	rho := dot(r, z)
	for first := rho; rho > square(exact)*first; {
		c.times(p, q, damp)
		step := rho / dot(p, q)
		for j := range x {
			x[j] += step * p[j]
			r[j] -= step * q[j]
			z[j] = r[j] / (whole[j] + damp[j])
		}
		next := dot(r, z)
		for j := range p {
			p[j] = z[j] + next/rho*p[j]
		}
		rho = next
		if n++; n > len(b)+most {
			break
		}
	}
	return x
}

func dot(a, b []float64) (x float64) {
	for i := range a {
		x += a[i] * b[i]
	}
	return x
}

// table of what was found; standard errors are those of the posterior's curvature.
func (s *solver) table() (*Table, error) {
	t := NewTable()
	for name, v := range s.p.Start {
		t.start[name] = v
	}
	for name, levels := range s.p.Sigma {
		for level, v := range levels {
			t.expect(name, level, v)
		}
	}
	if s.p.Known != nil {
		t.offsets = maps.Clone(s.p.Known.offsets)
	}
	errs, err := s.errors()
	for j, k := range s.terms {
		t.put(k, Offset{s.theta[j], errs[j], s.count[j]})
	}
	return t, err
}

func (s *solver) errors() ([]float64, error) {
	out := make([]float64, len(s.theta))
	if len(out) == 0 {
		return out, nil
	}
	_, curve, err := s.normal()
	if err != nil {
		return out, err
	}
	var chol mat.Cholesky
	if !chol.Factorize(curve.dense()) {
		return out, fmt.Errorf("the curvature of %d offsets is not positive", len(out))
	}
	inverse := mat.NewSymDense(len(out), nil)
	if err := chol.InverseTo(inverse); err != nil {
		return out, err
	}
	for j := range out {
		out[j] = math.Sqrt(inverse.At(j, j))
	}
	return out, nil
}
