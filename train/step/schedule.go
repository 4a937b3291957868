package step

import "math"

// once is what a step does a single time: gradients reduced among replicas, the optimizer, and the buckets that its
// shards are sent in.
type once struct {
	held    weightSum // of one stage and tensor rank, before replicas share them
	update  float64   // seconds of reading and writing the states
	reduce  float64   // seconds of sending gradients and weights
	buckets float64   // messages of the optimizer's shards
}

// schedule sums a step: passes of the slowest stage, and the bubble, (p-1)/v passes of a mean stage (interleaved
// 1F1B: Narayanan et al., arXiv:2104.04473, section 2.2).
func (m *Model) schedule(layers, head *work) {
	g := &m.groups
	m.sharedWeights(layers)
	m.stageLinks(layers)
	pp := float64(g.pp)
	slow, last := m.stages()
	var end work
	end.add(layers, last)
	end.add(head, 1)
	slowest := end
	if middle := (work{}); slow > last {
		middle.add(layers, slow)
		if middle.products()+middle.attend > end.products()+end.attend {
			slowest = middle
		}
	}
	var mean work
	mean.add(layers, 1/pp)
	mean.add(head, 1/pp)
	m.step = work{}
	m.step.add(&slowest, float64(g.passes))
	m.step.add(&mean, (pp-1)/float64(g.vpp))
	m.totals(layers, head)
}

// stages are the shares of the layers that the largest stage and the last one hold. Megatron lets embedding and
// head count as a layer each where the layers leave room for that; where layers do not divide, its recipes place
// them by hand.
func (m *Model) stages() (slow, last float64) {
	n, p := int64(len(m.in.Model.Decoder().Layers)), m.groups.pp
	even := 1 / float64(p)
	switch {
	case p == 1:
		return 1, 1
	case m.class() == megatron && n%p != 0 && (n+2)%p == 0:
		per := float64((n+2)/p) / float64(n)
		return per, per - 1/float64(n)
	case m.class() == megatron || n%p == 0:
		return even, even
	}
	return math.Ceil(float64(n)*even) / float64(n), math.Floor(float64(n)*even) / float64(n)
}

// sharedWeights adds what fully sharded weights cost in each pass, and what a step does once.
func (m *Model) sharedWeights(layers *work) {
	g, o := &m.groups, &m.once
	o.held.elements /= float64(g.pp)
	o.held.bytes /= float64(g.pp)
	if m.frozen() {
		m.gathers(layers, 0)
		return
	}
	wide := 4.0 // bytes of a gradient that is reduced
	if m.precision() == "bf16" {
		wide = 2
	}
	memory := float64(m.device.Bandwidth.Value)
	replicas := g.dp * g.cp
	if m.fullySharded() {
		m.gathers(layers, wide)
	} else {
		// read and written, beside the gradient of the pass
		layers.accumulate += float64(g.pp) * o.held.elements * (2 + wide) / memory
		o.reduce = g.around(o.held.elements*(wide+2), replicas)
	}
	shards := m.optimizerShards(replicas)
	o.update = o.held.elements / float64(shards) * 30 / memory
	if m.in.Training.Sharding == "zero1" && m.class() == sharded {
		o.buckets = float64(shards) * o.held.elements / bucket
	}
}

// around is the seconds in which a buffer goes around a ring of replicas once; none for one.
func (g *groups) around(bytes float64, replicas int64) float64 {
	if replicas == 1 {
		return 0
	}
	return bytes * ring(replicas) / g.ring()
}

// bucket is the elements that ZeRO sends at a time.
const bucket = 0.25e9

func (m *Model) optimizerShards(replicas int64) int64 {
	switch m.in.Training.Sharding {
	case "", "none", "ddp":
		return 1
	}
	if n := m.in.Extras.OptimizerShards; n > 0 {
		return min(n, replicas)
	}
	return replicas
}

// gathers adds to each pass what fully sharded weights cost: gathered forward and backward, gradients scattered. A
// pipeline keeps them for all its passes.
func (m *Model) gathers(layers *work, gradient float64) {
	g := &m.groups
	replicas := g.dp * g.cp
	if replicas == 1 || !m.fullySharded() && m.in.Training.Sharding != "zero2" {
		return
	}
	if !m.fullySharded() && m.class() != sharded {
		return
	}
	stored := m.once.held.bytes
	if m.in.Extras.GatherFP8 {
		stored /= 2
	}
	times := 2.0
	if !m.fullySharded() {
		times = 1
	}
	bytes := times*stored + gradient*m.once.held.elements
	seconds := g.around(bytes, replicas)
	if g.pp > 1 {
		seconds /= float64(g.passes)
	}
	layers.gather += float64(g.pp) * seconds
}

// stageLinks adds what stages send to their neighbours: activations forward and gradients backward.
func (m *Model) stageLinks(layers *work) {
	g := &m.groups
	if g.pp == 1 {
		return
	}
	bytes := 4 * activation * float64(m.in.Model.Hidden) * float64(g.micro*g.sequence) / float64(g.cp)
	if m.sequenceParallel() {
		bytes /= float64(g.tp)
	}
	layers.hop += float64(g.pp) * bytes * float64(g.vpp) / g.rate(g.devices)
}
