package serving

import (
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/speed"
)

// point is a batch as the laws look at it.
type point struct {
	batch           speed.Batch
	tokens, outputs float64
	all             float64 // tokens of all ranks that share experts
	decode, prefill model.Features
}

// law is the time of a kernel.
type law interface {
	seconds(p *point, d *device, c []float64) float64
}

// op is a kernel of a stage, and how often a step runs it.
type op struct {
	law
	count float64
	part  string
	bound speed.Bound
}

// newPoint is a batch of a model without windows, whose experts peers replicas share.
func newPoint(b speed.Batch, peers float64) point {
	var whole speed.Rank
	return newPointOf(&whole, b, 1, peers, 1)
}

// newPointOf gives the point of a batch of which every sequence that goes on has width tokens. Of the peers that share
// experts all decode, and prompting of them compute such prompts.
func newPointOf(r *speed.Rank, b speed.Batch, width, peers, prompting float64) point {
	p := point{batch: b}
	p.decode, p.prefill = r.Apart(b)
	decodes := width * float64(b.Decodes)
	p.tokens = decodes + float64(b.Prefill)
	p.outputs = decodes + float64(b.Finished)
	p.all = peers*decodes + prompting*float64(b.Prefill)
	return p
}

// point of a batch on a stage, where so many of the replicas that share experts compute prompts at once.
func (m *Model) point(s *stage, b speed.Batch, prompting float64) point {
	return newPointOf(s.rank, b, m.width, m.peers, prompting)
}
