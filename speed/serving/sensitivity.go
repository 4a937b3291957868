package serving

import (
	"math"

	"github.com/memwall/memwall/speed"
)

// nudge is the step of numerical slopes, in logarithms.
const nudge = 1e-4

// slopes gives the time of a step in which so many of the replicas that share experts compute prompts, and adds for each
// coefficient the seconds that it gains for a unit of the coefficient's logarithm. Only the kernels that use a coefficient
// are asked again. c are the coefficients, which change meanwhile.
func (m *Model) slopes(b speed.Batch, prompting float64, c, out []float64) (seconds float64) {
	own := make([]float64, len(out))
	for i := range m.stages {
		s := &m.stages[i]
		p := m.point(s, b, prompting)
		kernels := 0.0
		clear(own)
		s.each(m, &p, prompting, func(r execution) { kernels += r.times * m.slopesOf(r, c, own) })
		own[m.host.overlap] += kernels
		m.launchedSlopes(s, &p, kernels, own, out)
		m.hostSlopes(s, &p, out)
		seconds += m.withHost(s, &p, kernels)
	}
	return seconds
}

// launchedSlopes adds the slopes of kernels that are launched one by one, of which own has those of the kernels alone.
func (m *Model) launchedSlopes(s *stage, p *point, kernels float64, own, out []float64) {
	share := 1.0
	if t := m.launching(s, p); t > 0 {
		byKernels, byLaunches := overlapping(kernels, t)
		share = byKernels / kernels
		out[m.host.eager] += byLaunches
		if m.in.Eager {
			out[m.host.launch] += byLaunches
		}
	}
	for i, x := range own {
		out[i] += share * x
	}
}

// sloped is a law that knows its derivatives: slopes adds times the derivatives of seconds by the logarithms of the
// coefficients to out, and gives the seconds. Of a 4-norm t of a and b the derivative by ln a is a⁴/t³; a rate at the
// datasheet's does not rise.
type sloped interface {
	slopes(p *point, d *device, c, out []float64, times float64) float64
}

// nudged is one that does not: its coefficients are moved one by one.
type nudged interface {
	law
	uses() []int
}

// slopesOf a kernel, and its time.
func (m *Model) slopesOf(r execution, c, out []float64) float64 {
	if g, ok := r.law.(sloped); ok {
		return g.slopes(r.at, &m.device, c, out, r.times)
	}
	t := r.seconds(r.at, &m.device, c)
	if n, ok := r.law.(nudged); ok {
		for _, k := range n.uses() {
			was := c[k]
			c[k] = was * (1 + nudge)
			out[k] += r.times * (r.seconds(r.at, &m.device, c) - t) / nudge
			c[k] = was
		}
	}
	return t
}

// Elasticities of the mean figures of a load, in the order of Uses.
type Elasticities struct{ PerToken, First, Throughput []float64 }

// Elasticities says how each figure follows from each coefficient: the share by which it grows for a small share
// of the coefficient. A draft model's coefficients are its own.
func (m *Model) Elasticities(l Load) (Closed, Elasticities) {
	_, c, e := m.elasticities(l)
	return c, e
}

func (m *Model) elasticities(l Load) (loop, Closed, Elasticities) {
	n := len(m.c)
	all := make([]float64, 7*n)
	e := Elasticities{all[:n], all[n : 2*n], all[2*n : 3*n]}
	d, x, full, moved := all[3*n:4*n], all[4*n:5*n], all[5*n:6*n], all[6*n:]
	copy(moved, m.c)
	p, b := m.shape(l)
	p.decode, p.mixed = m.slopes(b.decode, 1, moved, d), m.slopes(b.mixed, m.peers, moved, x)
	if p.full = p.mixed; b.full != b.mixed {
		p.full = m.slopes(b.full, m.peers, moved, full)
	} else {
		copy(full, x)
	}
	p.drafts(m, b.decode)
	c := m.closed(&p, l)
	for _, v := range []struct {
		at    *float64
		slope []float64 // of seconds
		coef  int
		// capped coefficients are shares, which do not rise beyond 1.
		capped bool
	}{{at: &p.decode, slope: d}, {at: &p.mixed, slope: x}, {at: &p.full, slope: full}, {at: &p.front, coef: m.host.front}, {at: &p.reading, coef: m.host.token}, {at: &p.wait, coef: m.host.wait},
		{at: &p.held, coef: m.host.stream, capped: true}, {at: &p.joined, coef: m.host.batch, capped: true}} {
		was := *v.at
		if was == 0 || v.capped && m.c[v.coef] >= 1 {
			continue
		}
		*v.at = was * (1 + nudge)
		y := m.closed(&p, l)
		*v.at = was
		by := [3]float64{math.Log(y.PerToken/c.PerToken) / nudge, math.Log(y.First/c.First) / nudge, math.Log(y.Throughput/c.Throughput) / nudge}
		if v.slope == nil {
			e.add(v.coef, by, 1)
			continue
		}
		for i, s := range v.slope {
			e.add(i, by, s/was)
		}
	}
	return p, c, e
}

func (e *Elasticities) add(i int, by [3]float64, times float64) {
	e.PerToken[i] += by[0] * times
	e.First[i] += by[1] * times
	e.Throughput[i] += by[2] * times
}
