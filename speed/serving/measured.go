package serving

import (
	"math"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/speed/coef"
)

// Kernel is a single kernel as timed by benchmarks: the coefficients that its time depends on, and its law.
type Kernel struct {
	Uses    []coef.Use
	Seconds func(c []float64) float64
	// Roof is the time by datasheet alone, in seconds: the longer of arithmetic at peak and of bytes at memory bandwidth; for an
	// all-reduce, 2(n-1)/n of its bytes at the link rate.
	Roof float64
}

// ProductKernel returns the kernel of a matrix product with m rows of activations. A bare one receives them in its format;
// otherwise they are quantized first, as engines do.
func ProductKernel(hw *hardware.Device, engine string, s *dtype.Scheme, m, rows, cols int64, bare bool) Kernel {
	b := newBook(newDevice(hw), engine, "")
	p := b.product(s, rows, cols, s.Bytes(1, rows, cols))
	p.quantise = p.quantise && !bare
	return Kernel{b.uses, func(c []float64) float64 { return p.secondsFor(float64(m), &b.device, c) }, p.roof(float64(m), &b.device)}
}

// Heads are the dimensions of an attention timed alone; KV is the bytes per cached element, Wide those of a matmul operand.
type Heads struct {
	Sequences, Tokens, Heads, KVHeads, Width int64
	Cached                                   int64 // tokens of each that a prompt finds computed
	KV, Wide                                 float64
}

// DecodeKernel returns the attention kernel of a decode step.
func DecodeKernel(hw *hardware.Device, engine string, h Heads) Kernel {
	b := newBook(newDevice(hw), engine, "")
	a := b.heads(&h)
	p := newPoint(speed.Batch{Decodes: h.Sequences, Context: h.Tokens}, 1)
	return Kernel{b.uses, func(c []float64) float64 { return a.seconds(&p, &b.device, c) }, a.roof(&p, &b.device)}
}

// PrefillKernel returns the causal attention kernel of prefill.
func PrefillKernel(hw *hardware.Device, engine string, h Heads) Kernel {
	b := newBook(newDevice(hw), engine, "")
	a := b.heads(&h)
	p := newPoint(speed.Batch{Prefill: h.Sequences * h.Tokens, Prompts: h.Sequences, Cached: h.Cached}, 1)
	return Kernel{b.uses, func(c []float64) float64 { return a.seconds(&p, &b.device, c) }, a.roof(&p, &b.device)}
}

func (b *book) heads(h *Heads) *attention {
	o := model.Op{Kind: model.Attention, Attn: &model.Attn{Heads: h.Heads, KVHeads: h.KVHeads, DimK: h.Width, DimV: h.Width}}
	cost := o.Coeffs(&model.Exec{ActBytes: 2, KVBytes: h.KV}, nil)
	a := b.attention(&speed.Kernel{Op: &o, Attn: o.Attn, Decode: cost}, h.KV, 1)
	if h.Wide < 2 {
		a.peak, a.at = b.peak("fp8"), b.attentionCoefs("heads-8bit-math")
	}
	return a
}

// AllReduceKernel returns an all-reduce of the given bytes over the devices of a node.
func AllReduceKernel(hw *hardware.Device, engine string, ranks int64, bytes float64) Kernel {
	b := newBook(newDevice(hw), engine, "")
	name, rate := b.peers()
	l := b.collective(name, rate, ranks)
	return Kernel{b.uses, func(c []float64) float64 { return l.secondsFor(bytes, c) }, l.roof(bytes)}
}

// roof returns the roofline time of the product alone, with activations in its format.
func (g *product) roof(m float64, d *device) float64 {
	bare := *g
	bare.quantise = false
	return math.Max(2*m*g.rows*g.cols/g.peak, bare.bytes(m)/d.bandwidth)
}

func (a *attention) roof(p *point, d *device) float64 {
	bytes := dot(&a.read, &p.decode) + dot(&a.prefills, &p.prefill)
	return math.Max((dot(&a.decode, &p.decode)+dot(&a.prompt, &p.prefill))/a.peak, bytes/d.bandwidth)
}

func (l *collective) roof(bytes float64) float64 { return 2 * (l.ranks - 1) / l.ranks * bytes / l.rate }
