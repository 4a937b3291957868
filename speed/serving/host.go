package serving

import "github.com/memwall/memwall/speed"

// hostCoefs are what the engine's own code takes: in each layer, in each step, for each sequence of a step, more
// in a step with a prompt; before the first step of a request, and how many steps a request waits for the next.
type hostCoefs struct {
	layer, step, request, prompt int
	front, wait                  int
	burst, share                 int
}

func (b *book) host() hostCoefs {
	l := b.hostLevels()
	return hostCoefs{
		layer: b.need("host.layer", l), step: b.need("host.step", l), request: b.need("host.request", l), prompt: b.need("host.prompt", l),
		front: b.need("front.base", l), wait: b.need("front.steps", l), burst: b.need("loop.burst", l), share: b.need("loop.share", nil),
	}
}

// onHost is what a step takes beside its kernels.
func (m *Model) onHost(layers float64, p *point) (t float64) {
	m.hostTerms(layers, p, func(coef int, times float64) { t += times * m.c[coef] })
	return t
}

// hostSlopes adds the same to slopes: each term is proportional to its coefficient.
func (m *Model) hostSlopes(layers float64, p *point, out []float64) {
	m.hostTerms(layers, p, func(coef int, times float64) { out[coef] += times * m.c[coef] })
}

func (m *Model) hostTerms(layers float64, p *point, f func(coef int, times float64)) {
	h := &m.host
	f(h.layer, layers)
	f(h.step, 1)
	if p.batch.Prefill == 0 || !m.alone() {
		f(h.request, float64(p.batch.Decodes))
	}
	if p.batch.Prefill > 0 {
		f(h.prompt, 1)
	}
}

// alone reports whether the engine computes prompts in steps of their own (SGLang without mixed chunks).
func (m *Model) alone() bool { return m.in.Engine == "sglang" }

// Step is the time of a batch on the stages of a replica, in seconds, one after the other.
func (m *Model) Step(b speed.Batch) (seconds float64) {
	for i := range m.stages {
		s := &m.stages[i]
		p := newPointOf(s.rank, b, m.width, m.peers)
		for j := range s.ops {
			seconds += s.ops[j].count * s.ops[j].seconds(&p, &m.device, m.c)
		}
		seconds += m.onHost(float64(s.rank.Layers), &p)
	}
	return seconds
}
