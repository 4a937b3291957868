package stream

import "math"

// Test is the load: a prompt, an answer, or both.
type Test struct {
	// Prompt is how many tokens are computed, Generated how many are answered, behind Depth others.
	Prompt, Generated, Depth int64
}

// seconds gives the time of something from the values of the coefficients.
type seconds func(c []float64) float64

// decode is the time of one token behind depth others.
func (m *Model) decode(depth float64) seconds { return m.step(1, depth, m.work.used) }

// step is the time in which each of n users gets a token, each behind depth others, who together go through a share
// of the experts.
//
//	step + hops + sum over stages of: kernels × launch + sqrt(both(read, unpack)² + multiply²) + n × cache × bytes of the cache / memory rate
//	read: sum over formats of (dense + gather × experts) / (read × memory rate)
//
// Reading and unpacking overlap; weights are read and unpacked once, experts those that the users' tokens go through.
// All users but the first are multiplied as a prompt is. Nothing is faster than the memory. The host of an eager engine launches
// kernels one by one and runs ahead of the device: the longer of the two is waited for.
func (m *Model) step(n, depth, touched float64) seconds {
	kv := n * m.work.read(depth)
	return func(c []float64) float64 {
		t := c[m.uses.step]
		for i := range m.stages {
			t += m.stageStep(i, n, touched, kv, c)
		}
		t += m.awaited(t, c)
		if hops := float64(len(m.stages) - 1); hops > 0 {
			t += hops * c[m.uses.hop]
		}
		return t
	}
}

func (m *Model) stageStep(i int, n, touched, kv float64, c []float64) float64 {
	s, at := &m.stages[i], &m.uses.at[i]
	var read, bytes, unpack float64
	gather := 1.0
	if m.work.moe != nil {
		gather = c[at.gather]
	}
	for j := range m.work.groups {
		g := &m.work.groups[j]
		b := g.bytes(&s.Stage, touched)
		e := g.elems(&s.Stage, touched)
		bytes += b
		read += (b + (gather-1)*g.experts*touched*s.Experts) / c[at.read[j]]
		unpack += e / c[at.unpack[j]]
	}
	kv *= s.Dense
	t := overlapped(read/s.bandwidth, unpack/s.alu)
	if n > 1 {
		t = math.Hypot(t, m.multiplied(i, n, c))
	}
	t += c[at.launch]*m.work.kernels*s.Dense + c[at.cache]*kv/s.bandwidth
	if bytes > float64(s.Device.L2.Value) {
		t = math.Max(t, (bytes+kv)/s.bandwidth)
	}
	return t
}

// multiplied is the time of the products of n users' tokens, but those of one, which are in the time of unpacking.
// Kernels for few rows leave no tile empty, as those for prompts do with the few tokens of an expert.
func (m *Model) multiplied(i int, n float64, c []float64) (t float64) {
	s, at := &m.stages[i], &m.uses.at[i]
	scattered := 1.0
	if m.work.moe != nil {
		scattered = c[at.scatter]
	}
	for j := range m.work.groups {
		g := &m.work.groups[j]
		t += 2 * (n - 1) * (g.denseElems*s.Dense + g.headElems*s.Head + g.expertElems*m.work.used*s.Experts*scattered) / c[at.multiply[j]]
	}
	return t / s.peak
}

// overlapped is the time of two things that overlap for the most part.
func overlapped(a, b float64) float64 { return math.Sqrt(math.Hypot(a*a, b*b)) }

// prefill is the time of a prompt of n tokens behind depth others, u at once.
//
//	steps × kernels × prepare + sqrt(multiply² + read²) + attention
func (m *Model) prefill(n, depth float64) seconds {
	u := float64(m.in.UBatch)
	steps := math.Ceil(n / u)
	touched := m.work.touched(math.Min(n, u))
	each := math.Min(n, u) * m.work.used // tokens of an expert
	attention := m.work.attention(n, depth)
	return func(c []float64) float64 {
		t := 0.0
		for i := range m.stages {
			t += m.stagePrefill(i, n, steps, touched, each, attention, c)
		}
		return c[m.uses.step] + t*m.overlap(steps, c)
	}
}

// overlap is what is left of the time when devices work one behind the other: n devices take steps + n - 1 turns
// where one takes n × steps.
func (m *Model) overlap(steps float64, c []float64) float64 {
	n := float64(m.accelerators)
	if n < 2 {
		return 1
	}
	return math.Pow((steps+n-1)/(steps*n), math.Min(1, c[m.uses.pipe]))
}

func (m *Model) stagePrefill(i int, n, steps, touched, each, attention float64, c []float64) float64 {
	s, at := &m.stages[i], &m.uses.at[i]
	by, on := s, at // who multiplies
	if s.lends >= 0 {
		by, on = &m.stages[s.lends], &m.uses.at[s.lends]
	}
	var multiply, flops, read, bytes float64
	scattered := 1.0
	if m.work.moe != nil {
		scattered = c[on.scatter] * (1 + c[on.tile]/each)
	}
	for j := range m.work.groups {
		g := &m.work.groups[j]
		dense, experts := 2*n*g.denseElems*s.Dense+2*g.headElems*s.Head, 2*n*g.expertElems*m.work.used*s.Experts
		flops += dense + experts
		multiply += (dense + experts*scattered) / c[on.multiply[j]]
		b := steps*(g.dense*s.Dense+g.experts*touched*s.Experts) + g.head*s.Head
		bytes += b
		read += b / c[at.read[j]]
	}
	moved := read / s.bandwidth
	if s.lends >= 0 {
		moved = math.Max(moved, bytes/by.link)
	}
	attention *= s.Dense
	t := math.Hypot(multiply/by.peak, moved) + steps*m.work.kernels*s.Dense*c[on.prepare] + attention/(c[on.attend]*by.peak)
	return math.Max(t, (flops+attention)/by.peak)
}

// Seconds is the time of a test, from the values of the coefficients in the order of Uses.
func (m *Model) Seconds(t Test) func(c []float64) float64 {
	var parts []seconds
	if t.Prompt > 0 {
		parts = append(parts, m.prefill(float64(t.Prompt), float64(t.Depth)))
	}
	if t.Generated > 0 {
		one := m.decode(float64(t.Depth+t.Prompt) + float64(t.Generated)/2)
		parts = append(parts, func(c []float64) float64 { return float64(t.Generated) * one(c) })
	}
	return func(c []float64) (sum float64) {
		for _, p := range parts {
			sum += p(c)
		}
		return sum
	}
}

// Floor is the least time that the datasheet allows for a token of a test: of a prompt when it is one, else of
// an answer.
func (m *Model) Floor(kind string, prompt, generated, depth int64) float64 {
	s, whole := &m.stages[0], Stage{Dense: 1, Experts: 1, Head: 1}
	if kind == "prefill" || kind == "localscore-prefill" {
		flops := 0.0
		for _, g := range m.work.groups {
			flops += 2 * (g.denseElems + g.expertElems*m.work.used)
		}
		return flops / s.peak
	}
	bytes := 0.0
	for _, g := range m.work.groups {
		bytes += g.bytes(&whole, m.work.used)
	}
	if kind == "both" {
		bytes *= float64(generated) / float64(generated+prompt)
	}
	return bytes / s.bandwidth
}
