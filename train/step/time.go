package step

import "math"

// terms are the seconds of a step, by part, before ranks wait for each other.
type terms struct {
	products, experts, attention, elementwise, loss, unpack, dispatch, host float64
	tensor, gather, sent, ring, hop                                         float64
	reduce, update, fixed                                                   float64
	grow                                                                    float64 // by which waiting and the publication lengthen all
}

// hideable is how much of the computation what is gathered may overlap with: assumed, and hardly told by the rows. With all of
// it, those left out by source are off by 9.0 % in place of 8.9, by model and by device by as much.
const hideable = 0.8

// backward is the share of computation that gradients are made in. That as much of it as of all hides what nodes sum (HSDP) is assumed:
// no row has it.
const backward = 2.0 / 3

// slower is the larger of two times that run beside each other, somewhat more where they are alike: their power mean
// of order 4.
func slower(a, b float64) float64 { return math.Sqrt(math.Hypot(a*a, b*b)) }

// at gives the parts of a step by coefficients in the order of Uses.
func (m *Model) at(c []float64) (t terms) {
	t = m.computing(&m.step, c)
	m.waits(&t, c)
	m.sends(&t, c)
	t.reduce += m.once.reduce*c[atReduce] + m.once.buckets*c[atBucket]
	t.update, t.fixed = m.once.update*c[atUpdate], c[atFixed]
	t.grow = (1 + c[atStraggle]*m.spread) * c[atReport]
	return t
}

// computing is what the device does: linear in the work, so that the times of operators add up to that of a step.
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

// computed is what the device does.
func (t *terms) computed() float64 {
	return t.products + t.experts + t.attention + t.elementwise + t.loss + t.unpack
}

// waits adds the host, which launches operators beside the device: the slower of both counts, smoothly.
func (m *Model) waits(t *terms, c []float64) {
	w := &m.step
	device := t.computed()
	host := w.launches*c[atLaunch] + w.loops*c[atLoop] + w.matrices*c[atMatrix]
	t.host = math.Cbrt(device*device*device+host*host*host) - device
	t.dispatch = w.dispatches * c[atDispatch]
}

// sends adds traffic: gathering shows a share of itself whatever happens, and else what computation does not hide.
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

// pairs: the schedule runs a forward pass of one micro-batch beside the backward pass of another, so that what one sends to experts and
// to stages goes while the other computes (arXiv:2412.19437, section 3.2.1). No row has it: that what is sent hides as well as
// what is gathered is assumed.
func pairs(m *Model) bool {
	s := m.in.Training.Schedule
	return m.groups.pp > 1 && (s == "dualpipe" || s == "dualpipe-v")
}

// Seconds of a step by coefficients in the order of Uses, with what lies elsewhere.
func (m *Model) Seconds(c []float64) float64 {
	s, t := m.alone(c)
	copies, optimizer, nvme := m.aside.times(t.computed() + t.host)
	return s + copies.Mid + optimizer.Mid + nvme.Mid
}

// alone is the step on the devices: never less than its products at the peak.
func (m *Model) alone(c []float64) (float64, terms) {
	t := m.at(c)
	return math.Max(m.floor, t.sum()*t.grow), t
}

// sum of all parts.
func (t *terms) sum() float64 {
	return t.computed() + t.host + t.dispatch + t.tensor + t.gather + t.sent + t.ring + t.hop + t.reduce + t.update + t.fixed
}

// Tokens of a step, all devices together.
func (m *Model) Tokens() float64 { return m.tokens }

// PerDevice turns seconds of a step into tokens a second of one device.
func (m *Model) PerDevice(seconds float64) float64 {
	return m.tokens / seconds / float64(m.groups.devices)
}

// Floor is the least that a step can take: its products at the peak of the format that they are multiplied in.
func (m *Model) Floor() float64 { return m.floor }

// totals of a step that hold for the whole run.
func (m *Model) totals(layers, head *work) {
	g := &m.groups
	passes, pp := float64(g.passes), float64(g.pp)
	m.tokens = float64(g.sequence*g.micro*g.dp) * passes
	m.spread = math.Log2(max(1, float64(g.devices)/float64(g.domain)))
	m.floor = passes / pp * (layers.products() + head.products())
	m.flops = flops{useful: passes / pp * (layers.useful + head.useful), done: passes / pp * (layers.done + head.done)}
}

// Busy is the seconds of products at the peak of the slowest rank with the bubbles that it waits in.
func (m *Model) Busy() float64 { return m.step.products() }
