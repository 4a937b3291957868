package step

import (
	"math"

	"github.com/memwall/memwall/speed"
)

// once is the work done once per step: gradient reduction among replicas, the optimizer, and the buckets in which its shards are
// sent.
type once struct {
	held    heldWeights
	update  float64 // seconds to read and write the states
	reduce  float64 // seconds to send gradients and weights
	gather  float64 // seconds to gather sharded weights and scatter gradients, if a pipeline does so once for all passes
	buckets float64 // messages of the optimizer's shards
}

// schedule sums a step: the passes of the slowest stage, and the bubble, (p-1)/v passes of an average stage (interleaved 1F1B:
// Narayanan et al., arXiv:2104.04473, section 2.2).
func (m *Model) schedule(layers, head *work) {
	g := &m.groups
	m.sharedWeights(layers)
	m.stageLinks(layers)
	pp := float64(g.pp)
	share := m.slowest(layers, head)
	var slowest, mean work
	slowest.add(layers, share.layers)
	slowest.add(head, share.head)
	mean.add(layers, 1/pp)
	mean.add(head, 1/pp)
	m.step = work{}
	m.step.add(&slowest, float64(g.passes))
	idle := (pp - 1) / float64(g.vpp) * bubble(m.in.Training.Schedule)
	m.step.add(&mean, idle)
	m.turns = turns{share.layers*float64(g.passes) + idle/pp, share.head*float64(g.passes) + idle/pp}
	m.bubble = idle * mean.products() / m.step.products()
	m.step.gather += m.once.gather
	m.totals(layers, head)
}

// turns counts how often all layers and the head are executed.
type turns struct{ layers, head float64 }

// slowest returns the turns of the slowest stage in a pass: the last one, which has the head, or an earlier one with more layers.
func (m *Model) slowest(layers, head *work) turns {
	slow, last := m.stages()
	busy := func(t turns) float64 {
		return t.layers*(layers.products()+layers.attend) + t.head*(head.products()+head.attend)
	}
	end, middle := turns{last, 1}, turns{slow, 0}
	if slow > last && busy(middle) > busy(end) {
		return middle
	}
	return end
}

// bubble returns the fraction of 1F1B's idle time that a schedule leaves: schedules that separate weight gradients from input
// gradients fill it with the former (Qi et al., arXiv:2401.10241, section 2; ZB-V: arXiv:2405.15362).
func bubble(schedule string) float64 {
	switch schedule {
	case "zb-h1", "dualpipe", "dualpipe-v": // DualPipe: arXiv:2412.19437, table 2, with backward passes of two forward ones
		return 1.0 / 3
	case "zb-h2", "zbv":
		return 0
	}
	return 1
}

// stages returns the fractions of the layers held by the largest stage and by the last one. Megatron can count embedding and head
// as a layer each if the number of layers allows; otherwise its recipes place layers by hand.
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

// sharedWeights adds the cost of weights shared by replicas, per pass and per step.
func (m *Model) sharedWeights(layers *work) {
	g, h := &m.groups, &m.once.held
	// a gradient is reduced in 32 bits, but where all numbers have 16
	wide := 4.0
	if m.precision() == "bf16" {
		wide = 2
	}
	if m.frozen() {
		wide = 0
	}
	m.share(layers, &h.common, g.dp*g.cp, wide)
	m.share(layers, &h.experts, g.expertReplicas(), wide)
}

// expertReplicas returns the ranks that hold the same experts.
func (g *groups) expertReplicas() int64 {
	if g.ep <= 1 {
		return g.dp * g.cp
	}
	return max(1, g.dp*g.cp*g.tp/(g.ep*max(1, g.tp/g.ep)))
}

// share adds the cost of weights with a number of replicas; gradient is its bytes per parameter, 0 if frozen.
func (m *Model) share(layers *work, held *weightSum, replicas int64, gradient float64) {
	g, o := &m.groups, &m.once
	pp := float64(g.pp)
	elements := held.trained / pp
	if m.fullySharded() || m.in.Training.Sharding == "zero2" {
		if seconds := m.gathers(held, replicas, gradient); g.pp > 1 {
			o.gather += seconds / pp
		} else {
			layers.gather += seconds
		}
		layers.replicate += m.replicates(held, replicas, gradient) / pp
	}
	if gradient == 0 {
		return
	}
	memory := float64(m.device.Bandwidth.Value)
	if !m.fullySharded() {
		// read and written, beside the gradient of the pass
		layers.accumulate += held.trained * (2 + gradient) / memory
		if m.in.Training.Sharding != "zero2" {
			o.reduce += g.around(elements*(gradient+2), replicas)
		}
	}
	shards := float64(m.optimizerShards(m.sharing(replicas)))
	o.update += elements / shards * speed.AdamBytes / memory
	if m.in.Training.Sharding == "zero1" && m.class() == sharded {
		o.buckets += shards * elements / bucket
	}
}

// around returns the seconds in which a buffer passes once around a ring of replicas; 0 for one replica.
func (g *groups) around(bytes float64, replicas int64) float64 {
	if replicas == 1 {
		return 0
	}
	return bytes * ring(replicas) / g.ring()
}

// bucket is the number of elements that ZeRO sends at a time. Only the fitted time of a bucket depends on it.
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

// gathers returns the seconds that sharded weights cost all stages in a pass: gathered forward and, if freed, backward, and
// gradients scattered, which ZeRO-2 also does in each pass (Rajbhandari et al., arXiv:1910.02054, section 7).
func (m *Model) gathers(held *weightSum, replicas int64, gradient float64) float64 {
	g := &m.groups
	stored := m.gathered() * held.bytes
	if m.in.Extras.GatherFP8 {
		stored /= 2
	}
	bytes, sharing := stored+gradient*held.trained, m.sharing(replicas)
	if sharing < replicas {
		return bytes * ring(sharing) / g.fast
	}
	return g.around(bytes, replicas)
}

// replicates returns the seconds per pass to sum gradient shards among groups that hold the same weights.
func (m *Model) replicates(held *weightSum, replicas int64, gradient float64) float64 {
	sharing := m.sharing(replicas)
	return 2 * gradient * held.trained / float64(sharing) * ring(replicas/sharing) / m.groups.slow
}

// sharing returns the ranks that shard the same weights: all replicas, or those of a node with HSDP, which gathers within the node
// and all-reduces gradient shards across nodes (PyTorch, torch/distributed/fsdp, HYBRID_SHARD).
func (m *Model) sharing(replicas int64) int64 {
	g := &m.groups
	if m.in.Training.Sharding != "hsdp" {
		return replicas
	}
	return min(replicas, max(1, g.domain/(g.tp*g.pp)))
}

// gathered returns how often a pass gathers the weights. PyTorch's SHARD_GRAD_OP, which frameworks call zero2, keeps them from
// forward to backward; DeepSpeed's ZeRO-2 holds all of them.
func (m *Model) gathered() float64 {
	switch {
	case m.fullySharded():
		return 2
	case m.in.Training.Sharding == "zero2" && m.class() == sharded:
		return 1
	}
	return 0
}

// stageLinks adds the traffic between neighboring stages: activations forward and gradients backward.
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
