package serving

import (
	"math"

	"github.com/memwall/memwall/speed"
)

// nudge is the step of numerical slopes, in logarithms.
const nudge = 1e-4

// slopes of a step's time: for each coefficient the seconds that it gains for a unit of the coefficient's
// logarithm. Only the kernels that use a coefficient are asked again.
func (m *Model) slopes(b speed.Batch) (seconds float64, out []float64) {
	out = make([]float64, len(m.c))
	c := append([]float64(nil), m.c...)
	for i := range m.stages {
		s := &m.stages[i]
		p := newPointOf(s.rank, b, m.width, m.peers)
		for j := range s.ops {
			o := &s.ops[j]
			t := o.seconds(&p, &m.device, c)
			seconds += o.count * t
			o.uses(func(k int) {
				was := c[k]
				c[k] = was * (1 + nudge)
				out[k] += o.count * (o.seconds(&p, &m.device, c) - t) / nudge
				c[k] = was
			})
		}
		seconds += m.onHost(float64(s.rank.Layers), &p)
		m.hostSlopes(float64(s.rank.Layers), &p, out)
	}
	return seconds, out
}

// Elasticities of the mean figures of a load, in the order of Uses.
func (m *Model) Elasticities(l Load) (c Closed, perToken, first []float64) {
	p := m.loop(l)
	decode, mixed := m.batches(l, &p)
	_, d := m.slopes(decode)
	_, x := m.slopes(mixed)
	c = Closed{p.perToken(), p.first()}
	perToken, first = make([]float64, len(m.c)), make([]float64, len(m.c))
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
		dp, df := math.Log(p.perToken()/c.PerToken)/nudge, math.Log(p.first()/c.First)/nudge
		*v.at = was
		if v.slope == nil {
			perToken[v.coef] += dp
			first[v.coef] += df
			continue
		}
		for i, s := range v.slope {
			perToken[i] += dp * s / was
			first[i] += df * s / was
		}
	}
	return c, perToken, first
}
