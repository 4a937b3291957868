package serving

import (
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/speed/coef"
)

// hostCoefs are the times of the engine's own code: per small kernel, per step, per sequence of a step, per step with prompts
// outside of graphs, before the first step of a request, and the steps a request waits for the next.
type hostCoefs struct {
	small, step, request, prompt int
	front, wait                  int
	token                        int // of a token of a prompt, before its first step
	stream, batch                int // shares of what sending and batching may hold the first token back
	eager                        int // launch of a kernel that no graph holds
	launch                       int // what one takes on the device's hosts, over that, where none has graphs
	overlap                      int // time of a step's kernels over the sum of their individual times
}

func (b *book) host() hostCoefs {
	l := b.hostLevels()
	return hostCoefs{
		small: b.need("pointwise.floor", l), step: b.need("host.step", l), request: b.need("host.request", l), prompt: b.need("host.prompt", l),
		front: b.need("front.base", l), wait: b.need("front.steps", l), token: b.need("front.token", l),
		stream: b.need("front.stream", l[:2]), batch: b.need("front.batch", l[:2]),
		eager:   b.need("host.eager", []coef.Level{{Name: "launcher", Key: b.launcher}, l[1]}),
		launch:  b.need("host.launch", []coef.Level{{Name: "device", Key: b.id}}),
		overlap: b.need("step.overlap", b.overlapLevels()),
	}
}

// onHost is what a step takes beside its kernels.
func (m *Model) onHost(s *stage, p *point) (t float64) {
	m.hostTerms(s, p, func(coef int, times float64) { t += times * m.c[coef] })
	return t
}

// hostSlopes adds the same terms to slopes: each is proportional to its coefficient.
func (m *Model) hostSlopes(s *stage, p *point, out []float64) {
	m.hostTerms(s, p, func(coef int, times float64) { out[coef] += times * m.c[coef] })
}

func (m *Model) hostTerms(s *stage, p *point, f func(coef int, times float64)) {
	h := &m.host
	f(h.small, s.small)
	f(h.step, 1)
	if p.batch.Prefill == 0 || !m.alone() {
		f(h.request, float64(p.batch.Decodes))
	}
	if p.batch.Prefill > 0 && !m.in.graphed(p.tokens) {
		f(h.prompt, 1)
	}
}

// alone reports whether the engine computes prompts in steps of their own (SGLang without mixed chunks).
func (m *Model) alone() bool { return m.in.Engine == "sglang" }

// Step returns the time of a batch through the stages of a replica, in seconds.
func (m *Model) Step(b speed.Batch) (seconds float64) { return m.step(b, 1) }

// Together returns the time of a batch, in seconds, if all replicas that share experts prefill as this one does.
func (m *Model) Together(b speed.Batch) float64 { return m.step(b, m.peers) }

// step in which so many of the replicas that share experts compute prompts.
func (m *Model) step(b speed.Batch, prompting float64) (seconds float64) {
	for i := range m.stages {
		seconds += m.stageSeconds(&m.stages[i], b, prompting)
	}
	return seconds
}

func (m *Model) stageSeconds(s *stage, b speed.Batch, prompting float64) (seconds float64) {
	p := m.point(s, b, prompting)
	s.each(m, &p, prompting, func(r execution) { seconds += r.times * r.seconds(r.at, &m.device, m.c) })
	return m.withHost(s, &p, seconds)
}

// times that a step runs a kernel, less what it overlaps with others.
func (m *Model) times(o *op) float64 { return o.count * m.c[m.host.overlap] }

// withHost is a stage's step of which the kernels take so long.
func (m *Model) withHost(s *stage, p *point, kernels float64) float64 {
	return m.withLaunches(s, p, kernels) + m.onHost(s, p)
}

// withLaunches returns the time of kernels of which some are launched individually: while the host launches, the device computes.
func (m *Model) withLaunches(s *stage, p *point, kernels float64) float64 {
	if t := m.launching(s, p); t > 0 {
		return norm(kernels, t)
	}
	return kernels
}

// launching is what the host takes to launch the kernels of a step one by one. CUDA graphs are of batches that decode
// (sglang/srt/model_executor/cuda_graph_runner.py; tensorrt_llm/_torch/pyexecutor/cuda_graph_runner.py) or of few tokens (vLLM, 512),
// so that Python runs the modules of each layer in a step with prompts, and in each step of an engine without graphs: what a launch takes
// there is what one was fitted to take here.
func (m *Model) launching(s *stage, p *point) float64 {
	switch {
	case m.in.Eager:
		return s.launches * m.c[m.host.eager] * m.c[m.host.launch]
	case p.batch.Prefill > 0:
		return s.launched(&m.in, p.tokens) * m.c[m.host.eager]
	}
	return 0
}

// Parts returns the parts of a step's time.
func (m *Model) Parts(b speed.Batch) []speed.Part { return m.partsOf(b, 1) }

func (m *Model) partsOf(b speed.Batch, prompting float64) (out []speed.Part) {
	add := func(name string, seconds float64, bound speed.Bound) {
		for i := range out {
			if out[i].Name == name && out[i].Bound == bound {
				out[i].Seconds += seconds
				return
			}
		}
		out = append(out, speed.Part{Name: name, Seconds: seconds, Bound: bound})
	}
	for i := range m.stages {
		s := &m.stages[i]
		p := m.point(s, b, prompting)
		kernels := 0.0
		s.each(m, &p, prompting, func(r execution) {
			t := r.times * r.seconds(r.at, &m.device, m.c)
			kernels += t
			if t > 0 {
				add(r.part, t, m.bound(r.op, r.at))
			}
		})
		host := m.onHost(s, &p)
		add("host", host+m.withLaunches(s, &p, kernels)-kernels, speed.Host)
	}
	return out
}

// bound returns what would make a kernel faster. Floors count as host: only a larger kernel helps. Arithmetic spent mostly on the
// padding of tiles is not a bottleneck: if the memory roof is closer, more rows would cost next to nothing, and the kernel is
// memory bound.
func (m *Model) bound(o *op, p *point) speed.Bound {
	if o.bound == speed.Network {
		return o.bound
	}
	faster := m.device
	faster.bandwidth *= 1 + nudge
	t := o.seconds(p, &m.device, m.c)
	gain := (t - o.seconds(p, &faster, m.c)) / (t * nudge)
	switch arithmetic, memory := m.roofs(o, p); {
	case gain > 0.45:
		return speed.Memory
	case m.floor(o) > t/2:
		return speed.Host
	case memory > arithmetic:
		return speed.Memory
	}
	return speed.Compute
}

// roofs are the times that a kernel's operations and bytes take at the datasheet's rates. Prompts bound attention and
// scans by arithmetic.
func (m *Model) roofs(o *op, p *point) (arithmetic, memory float64) {
	switch l := o.law.(type) {
	case *product:
		rows := p.tokens
		if l.output {
			rows = p.outputs
		}
		return 2 * rows * l.rows * l.cols / l.peak, l.bytes(rows) / m.device.bandwidth
	case *experts:
		rows := l.chosen(p)
		return 2 * rows * l.rows * l.cols / l.peak, l.bytes(rows, l.touched(p, m.c)) / m.device.bandwidth
	}
	return 0, 0
}

// floor is what a kernel takes however little it has to do.
func (m *Model) floor(o *op) float64 {
	switch l := o.law.(type) {
	case *product:
		return m.c[l.at[0]]
	case *experts:
		return l.groups * m.c[l.at.floor]
	case *attention:
		return m.c[l.at.floor]
	case *scan:
		return m.c[l.floor]
	}
	return 0
}
