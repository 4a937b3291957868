package serving

import (
	"fmt"
	"math"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/speed"
)

// Dispatch describes how tokens reach experts on other replicas' ranks, and return. The zero value is an exchange over
// Link, whose coefficients are those of whole engines.
type Dispatch struct {
	// Kernels are DeepEP's kernels, named as in a plan; "" for the engine's own exchange.
	Kernels string
	// PerNode is the number of ranks connected by Link, 0 for all; others are reached over Wire, one per rank.
	PerNode int64
	Wire    hardware.Link
	// TwoBatches computes one half of a step while the tokens of the other are in transit.
	TwoBatches bool
	// Uneven is the load of the busiest rank relative to the mean; 0 means 1. All ranks wait for it.
	Uneven float64
}

func (d *Dispatch) uneven() float64 { return math.Max(1, d.Uneven) }

// crosses reports whether so many ranks lie on several nodes.
func (d *Dispatch) crosses(ranks int64) bool {
	return d.PerNode > 0 && ranks > d.PerNode && d.Wire.EachWay.Value > 0
}

// dispatch is one way of tokens to their experts or back, with DeepEP's kernels: the mean of both ways, of which each layer has
// one. A token goes out in 8 bits with its scales, and comes back in 16.
//
// The low-latency kernels send a copy to each expert, over the link within a node and over the wire beyond it:
//
//	start + tokens × used × bytes × max(near / (link × 0.8), far / (wire × 0.87))
//
// The normal ones send one copy to each node, which hands it on to its ranks:
//
//	start + tokens × bytes × max(ranks reached / (link × 0.8), nodes reached / (wire × 0.9))
type dispatch struct {
	kernels       string
	ranks, near   float64 // ranks that share experts; those of a node
	used          float64 // experts of a token
	nodes, others float64 // other nodes that a token reaches with the normal kernels, and ranks that are handed it within theirs
	bytes         float64 // of a token, the mean of both ways
	link, wire    float64 // bytes a second of a device, one way
	uneven        float64
}

// Measured by DeepEP's makers on H800 with 400 Gb/s for each (deepseek-ai/DeepEP, legacy documentation and README): a fit to the
// twelve latencies of 128 tokens among 8 to 256 ranks, and the rates of 4,096 and 8,192 tokens over the links' own; a test has
// the rows.
const (
	dispatchStart = 27e-6 // seconds of a call
	linkShare     = 0.8   // of NVLink's rate
	lowShare      = 0.87  // of the wire's, low-latency kernels
	normalShare   = 0.9   // of the wire's, normal kernels
	commSMs       = 20    // multiprocessors that the normal kernels take (deep_ep/buffer.py, Buffer.num_sms)
	scaleBytes    = 4.0 / 128
)

// dispatch of a stage's mixtures among ranks that a link of the given rate joins within a node.
func (s *stage) dispatch(m *Model, ranks int64, rate float64) *dispatch {
	d, hidden := &m.in.Dispatch, float64(m.in.Model.Hidden)
	near := ranks
	if d.crosses(ranks) {
		near = d.PerNode
	}
	out := &dispatch{kernels: d.Kernels, ranks: float64(ranks), near: float64(near), used: s.chosen, link: rate,
		wire: float64(d.Wire.EachWay.Value), uneven: d.uneven(), bytes: (hidden*(1+scaleBytes) + 2*hidden) / 2}
	nodes := out.ranks / out.near
	out.nodes = spread(s.routed, nodes) * (1 - 1/nodes)
	out.others = out.ranks * (1 - math.Pow(1-1/out.ranks, out.used)) * (1 - 1/out.near)
	return out
}

// spread is on how many of n nodes the experts of a token lie on average. Where only those of a few groups can be chosen, nodes
// hold whole groups.
func spread(e *model.Experts, n float64) float64 {
	if e == nil || n <= 1 {
		return 1
	}
	if e.Groups > 1 && float64(e.Groups) >= n {
		left := 1.0 // that none of the groups of a node is chosen
		each := float64(e.Groups) / n
		for i := range e.GroupsUsed {
			left *= math.Max(0, float64(e.Groups)-each-float64(i)) / (float64(e.Groups) - float64(i))
		}
		return n * (1 - left)
	}
	most := float64(e.Used)
	if e.Groups > 1 {
		most = math.Min(most, float64(e.GroupsUsed))
	}
	return n * (1 - math.Pow(1-1/n, most))
}

// normal reports whether a step goes with the normal kernels.
func (x *dispatch) normal(p *point) bool {
	return x.kernels == plan.DeepEPNormal || x.kernels == plan.DeepEP && p.batch.Prefill > 0
}

func (x *dispatch) seconds(p *point, _ *device, _ []float64) float64 {
	link, wire := x.sides(p)
	return dispatchStart + math.Max(link, wire)
}

// sides are the times that the link within a node and the wire between nodes take. The rank that most tokens reach takes
// longest.
func (x *dispatch) sides(p *point) (link, wire float64) {
	bytes := x.uneven * p.tokens * x.bytes
	if x.normal(p) {
		return bytes * x.others / (x.link * linkShare), over(bytes*x.nodes, x.wire*normalShare)
	}
	copies := bytes * x.used
	return copies * (x.near - 1) / x.ranks / (x.link * linkShare), over(copies*(x.ranks-x.near)/x.ranks, x.wire*lowShare)
}

// over is the time of bytes at a rate, none where there are none.
func over(bytes, rate float64) float64 {
	if bytes == 0 {
		return 0
	}
	return bytes / rate
}

func (w *writer) dispatch(x *dispatch) string {
	link, wire := x.sides(&w.p)
	return fmt.Sprintf("%s + max(%s, %s)", w.in("start", dispatchStart, "seconds of a call of DeepEP"),
		w.in("link_s", link, "seconds of the link within a node"), w.in("wire_s", wire, "seconds of the wire between nodes"))
}

// execution is a kernel of a step, how often it is run, and on what.
type execution struct {
	*op
	at    *point
	times float64
	place int // among the stage's kernels
}

// each gives f the kernels of a step with their times. Of two batches that overlap each half is computed on its own; of an
// exchange only what the other half's computing does not hide counts.
func (s *stage) each(m *Model, p *point, prompting float64, f func(execution)) {
	if !m.in.Dispatch.TwoBatches || m.peers <= 1 || p.batch.Decodes+p.batch.Prefill < 2 {
		for j := range s.ops {
			f(execution{&s.ops[j], p, m.times(&s.ops[j]), j})
		}
		return
	}
	half := m.point(s, halved(p.batch), prompting)
	slower, left := s.overlap(m, &half)
	for j := range s.ops {
		o, times := &s.ops[j], 2*slower
		if o.part == exchanged {
			times = 2 * left
		}
		f(execution{o, &half, times * m.times(o), j})
	}
}

// exchanged is the part of tokens on their way to experts and back, multiplied that of what experts do with them.
const exchanged, multiplied = "all-to-all", "experts"

// overlap is how many times longer computing takes during the exchange of the other half, and which share of the exchange it does
// not hide. The normal kernels keep some multiprocessors for as long as they run; the low-latency ones keep all while a call
// starts, which is not hidden, and none while bytes are under way.
//
// SGLang's halves are two stages of a layer apart where they decode: tokens go out beside the shared expert and the other half's
// projections and come back beside its attention, and nothing is under way while experts are multiplied
// (sglang/srt/operations_strategy.py, _compute_moe_deepseek_blog_decode, tbo_delta_stages). With prompts, and in vLLM
// (v1/worker/ubatching.py), the experts of a half hide what the other sends.
func (s *stage) overlap(m *Model, half *point) (slower, left float64) {
	computing, moving, starting := 0.0, 0.0, 0.0
	normal, alone := false, m.in.Engine == "sglang" && half.batch.Prefill == 0
	for j := range s.ops {
		o := &s.ops[j]
		t := m.times(o) * o.seconds(half, &m.device, m.c)
		x, sent := o.law.(*dispatch)
		switch {
		case o.part == multiplied && alone:
			continue
		case o.part != exchanged:
			computing += t
			continue
		case sent && x.normal(half):
			normal = true
		case sent:
			starting += m.times(o) * dispatchStart
		}
		moving += t
	}
	if moving == 0 || computing == 0 {
		return 1, 1
	}
	slower = 1
	if normal {
		slower += moving * commSMs / m.device.sms / computing
	}
	hidden := math.Min(moving-starting, slower*computing)
	return slower, (moving - hidden) / moving
}

// halved is one of two batches of a step.
func halved(b speed.Batch) speed.Batch {
	for _, n := range []*int64{&b.Decodes, &b.Prefill, &b.Prompts, &b.Finished} {
		*n = (*n + 1) / 2
	}
	return b
}
