package step

import "math"

// terms are the seconds of a step by part, before ranks wait for each other.
type terms struct {
	products, experts, attention, elementwise, loss, unpack, dispatch, host float64
	tensor, gather, sent, ring, hop                                         float64
	reduce, update, fixed                                                   float64
	grow                                                                    float64 // factors of waiting and of the publication
}

// hideable is the fraction of computation that gathering may overlap with: assumed, since the rows hardly determine it. With 1
// instead, the error leaving out sources is 9.0 % instead of 8.9, and the same by model and by device.
const hideable = 0.8

// backward is the fraction of computation in the backward pass. That it hides inter-node reductions (HSDP) to the same extent is
// assumed: no row has them.
const backward = 2.0 / 3

// slower returns the larger of two concurrent times, somewhat more if they are similar: their power mean of order 4.
func slower(a, b float64) float64 { return math.Sqrt(math.Hypot(a*a, b*b)) }

// at returns the parts of a step with coefficients in the order of Uses.
func (m *Model) at(c []float64) (t terms) {
	t = m.computing(&m.step, c)
	m.waits(&t, c)
	m.sends(&t, c)
	t.reduce += m.once.reduce*c[atReduce] + m.once.buckets*c[atBucket]
	t.update, t.fixed = m.once.update*c[atUpdate], c[atFixed]
	t.grow = (1 + c[atStraggle]*m.spread) * c[atReport]
	return t
}

// computing returns the device time: linear in the work, so that operator times add up to the step.
func (m *Model) computing(w *work, c []float64) (t terms) {
	multiply := c[atMultiply] * m.format.clock
	t.products = w.wide/multiply + w.operands*c[atOperands] + w.small*c[atSmall] + w.misaligned*c[atAligned] + w.waves*c[atWaves] + w.quantise*c[atQuantise]
	expert := multiply
	if m.format.narrow > 0 {
		expert = c[atNarrow] * m.format.clock
		t.products += w.narrow / expert
	}
	t.experts = w.experts/(expert*c[atExperts]) + w.smallExperts*c[atSmall] + w.permute*c[atPermute]
	t.attention = (w.attend+w.edges*c[atEdges])/(c[atAttend]*m.format.clock) + w.scores*c[atScores] + w.scan*c[atScan]
	t.elementwise = w.elementwise*c[atElement] + w.adapters*c[atAdapters] + w.accumulate*c[atSum]
	t.loss, t.unpack = w.loss*c[atLoss], w.unpack*c[atUnpack]+w.unpackSteps*c[atSteps]
	return t
}

// computed returns the device time.
func (t *terms) computed() float64 {
	return t.products + t.experts + t.attention + t.elementwise + t.loss + t.unpack
}

// waits adds the host, which launches operators concurrently with the device: the slower of the two counts, smoothly.
func (m *Model) waits(t *terms, c []float64) {
	w := &m.step
	device := t.computed()
	host := w.launches*c[atLaunch] + w.loops*c[atLoop] + w.matrices*c[atMatrix]
	t.host = math.Cbrt(device*device*device+host*host*host) - device
	t.dispatch = w.dispatches * c[atDispatch]
}

// sends adds communication: a fixed fraction of gathering is always exposed, and otherwise what computation does not hide.
func (m *Model) sends(t *terms, c []float64) {
	w := &m.step
	if w.gather > 0 {
		x, hides := w.gather*c[atGather], hideable*(t.computed()+t.host+t.dispatch)
		t.gather = c[atExposed]*x + slower(x, hides) - hides
	}
	if w.replicate > 0 {
		hides := hideable * backward * t.computed()
		t.reduce += slower(w.replicate, hides) - hides
	}
	t.tensor, t.sent = w.tensor*c[atTensor], w.inside*c[atInside]+w.across*c[atAcross]
	t.ring, t.hop = w.ring*c[atRing], w.hop*c[atHop]
	if sent := t.sent + t.hop; pairs(m) && sent > 0 {
		hides := hideable * t.computed()
		shown := (slower(sent, hides) - hides) / sent
		t.sent, t.hop = shown*t.sent, shown*t.hop
	}
}

// pairs reports whether the schedule runs the forward pass of one micro-batch concurrently with the backward pass of another, so
// that expert and stage communication of one overlaps with the other's computation (arXiv:2412.19437, section 3.2.1). No row has
// it: that this hides as well as gathering is assumed.
func pairs(m *Model) bool {
	s := m.in.Training.Schedule
	return m.groups.pp > 1 && (s == "dualpipe" || s == "dualpipe-v")
}

// Seconds returns the seconds of a step with coefficients in the order of Uses, including offloading.
func (m *Model) Seconds(c []float64) float64 {
	s, t := m.alone(c)
	copies, optimizer, nvme := m.aside.times(t.computed() + t.host)
	return s + copies.Mid + optimizer.Mid + nvme.Mid
}

// alone returns the step on the devices: never less than its matmuls at peak.
func (m *Model) alone(c []float64) (float64, terms) {
	t := m.at(c)
	return math.Max(m.floor, t.sum()*t.grow), t
}

// sum returns the sum of all parts.
func (t *terms) sum() float64 {
	return t.computed() + t.host + t.dispatch + t.tensor + t.gather + t.sent + t.ring + t.hop + t.reduce + t.update + t.fixed
}

// Tokens returns the tokens per step, over all devices.
func (m *Model) Tokens() float64 { return m.tokens }

// PerDevice converts seconds per step to tokens per second per device.
func (m *Model) PerDevice(seconds float64) float64 {
	return m.tokens / seconds / float64(m.groups.devices)
}

// Floor returns the minimum seconds of a step: its matmuls at the peak of their format.
func (m *Model) Floor() float64 { return m.floor }

// totals computes the figures of a step for the whole run.
func (m *Model) totals(layers, head *work) {
	g := &m.groups
	passes, pp := float64(g.passes), float64(g.pp)
	m.tokens = float64(g.sequence*g.micro*g.dp) * passes
	m.spread = math.Log2(max(1, float64(g.devices)/float64(g.domain)))
	m.floor = passes / pp * (layers.products() + head.products())
	m.flops = flops{useful: passes / pp * (layers.useful + head.useful), done: passes / pp * (layers.done + head.done)}
}

// Busy returns the seconds of the slowest rank's matmuls at peak, including its bubbles.
func (m *Model) Busy() float64 { return m.step.products() }
