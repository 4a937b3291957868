package serving

import (
	"math"

	"github.com/memwall/memwall/speed"
)

// nudge is the step of numerical slopes, in logarithms.
const nudge = 1e-4

// slopes of a step's time: for each coefficient the seconds that it gains for a unit of the coefficient's
// logarithm. Only the kernels that use a coefficient are asked again.
func (m *Model) slopes(b speed.Batch, out []float64) {
	c := append([]float64(nil), m.c...)
	for i := range m.stages {
		s := &m.stages[i]
		p := newPointOf(s.rank, b, m.width, m.peers)
		for j := range s.ops {
			o := &s.ops[j]
			t := o.seconds(&p, &m.device, c)
			o.uses(func(k int) {
				was := c[k]
				c[k] = was * (1 + nudge)
				out[k] += o.count * (o.seconds(&p, &m.device, c) - t) / nudge
				c[k] = was
			})
		}
		m.hostSlopes(float64(s.rank.Layers), &p, out)
	}
}

// Elasticities of the mean figures of a load, in the order of Uses.
type Elasticities struct{ PerToken, First, Throughput []float64 }

// Elasticities says how each figure follows from each coefficient: the share by which it grows for a small share
// of the coefficient. A draft model's coefficients are its own.
func (m *Model) Elasticities(l Load) (Closed, Elasticities) {
	p := m.loop(l)
	c := m.closed(&p, l)
	n := len(m.c)
	all := make([]float64, 5*n)
	e := Elasticities{all[:n], all[n : 2*n], all[2*n : 3*n]}
	decode, mixed := m.batches(l, &p)
	d, x := all[3*n:4*n], all[4*n:]
	m.slopes(decode, d)
	m.slopes(mixed, x)
	for _, v := range []struct {
		at    *float64
		slope []float64 // of seconds
		coef  int
	}{{&p.decode, d, 0}, {&p.mixed, x, 0}, {&p.front, nil, m.host.front}, {&p.wait, nil, m.host.wait}, {&p.burst, nil, m.host.burst}, {&p.share, nil, m.host.share}} {
		was := *v.at
		if was == 0 {
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
	return c, e
}

func (e *Elasticities) add(i int, by [3]float64, times float64) {
	e.PerToken[i] += by[0] * times
	e.First[i] += by[1] * times
	e.Throughput[i] += by[2] * times
}
