package serving

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/speed/coef"
)

// Kernel is a single kernel as benchmarks time it: the coefficients that its time depends on, and the law.
type Kernel struct {
	Uses    []coef.Use
	Seconds func(c []float64) float64
}

// ProductKernel is a matrix product of m rows of activations.
func ProductKernel(hw *hardware.Device, engine string, s *dtype.Scheme, m, rows, cols int64) Kernel {
	b := newBook(newDevice(hw), engine, "")
	p := b.product(s, rows, cols, s.Bytes(1, rows, cols))
	return Kernel{b.uses, func(c []float64) float64 { return p.of(float64(m), &b.device, c) }}
}

// Heads are the dimensions of an attention that is timed alone, KV the bytes of a cached element, Wide those of
// an operand of its products.
type Heads struct {
	Sequences, Tokens, Heads, KVHeads, Width int64
	KV, Wide                                 float64
}

// DecodeKernel is the attention of a decode step.
func DecodeKernel(hw *hardware.Device, engine string, h Heads) Kernel {
	b := newBook(newDevice(hw), engine, "")
	a := b.heads(&h)
	p := newPoint(speed.Batch{Decodes: h.Sequences, Context: h.Tokens}, 1)
	return Kernel{b.uses, func(c []float64) float64 { return a.seconds(&p, &b.device, c) }}
}

// PrefillKernel is the causal attention of prompts.
func PrefillKernel(hw *hardware.Device, engine string, h Heads) Kernel {
	b := newBook(newDevice(hw), engine, "")
	a := b.heads(&h)
	p := newPoint(speed.Batch{Prefill: h.Sequences * h.Tokens, Prompts: h.Sequences}, 1)
	return Kernel{b.uses, func(c []float64) float64 { return a.seconds(&p, &b.device, c) }}
}

func (b *book) heads(h *Heads) *attention {
	o := model.Op{Kind: model.Attention, Attn: &model.Attn{Heads: h.Heads, KVHeads: h.KVHeads, DimK: h.Width, DimV: h.Width}}
	cost := o.Coeffs(&model.Exec{ActBytes: 2, KVBytes: h.KV}, nil)
	a := b.attention(&speed.Kernel{Op: &o, Attn: o.Attn, Decode: cost, Prefill: cost}, h.KV, 1)
	if h.Wide < 2 {
		a.peak, a.at = b.peak("fp8"), b.attentionCoefs("heads-8bit-math")
	}
	return a
}

// AllReduceKernel is an all-reduce of some bytes over the devices of a node.
func AllReduceKernel(hw *hardware.Device, engine string, ranks int64, bytes float64) Kernel {
	b := newBook(newDevice(hw), engine, "")
	name, rate := b.peers()
	l := b.collective(name, rate, ranks)
	return Kernel{b.uses, func(c []float64) float64 { return l.of(bytes, c) }}
}
