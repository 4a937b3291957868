package serving

import (
	"math"

	"github.com/memwall/memwall/speed"
)

// experts are the matrices of a routed mixture that a rank holds, multiplied for the tokens that choose them.
type experts struct {
	rows, cols float64 // of one expert's matrix
	held       float64 // experts of the rank
	all, used  float64 // experts of the layer, copies included, and how many a token takes
	uneven     float64 // tokens of the rank that has most, over the mean
	weights    float64 // bytes held
	peak, in   float64
	quantise   bool
	// groups is by how much longer the floor is than that of a mixture that takes eight experts for a token.
	groups float64
	at     expertCoefs
}

// expertCoefs are those of experts, and the share of the memory's rate that products of their class reach.
type expertCoefs struct{ floor, memory, compute, half, skew, product int }

// grouped is how many experts of a token the fitted floor is of. That it grows with their square root, for tokens that are copied to more of
// them and products in more groups, is set by hand between none and proportion: it takes the p90 of models that were left out from 32 to 30 %.
const grouped = 8

func (b *book) experts(k *speed.Kernel, copies int64, uneven float64) *experts {
	e := &experts{rows: float64(k.Rows), cols: float64(k.Cols), held: float64(k.Batch), all: float64(k.Moe.N + copies), used: float64(k.Moe.Used),
		uneven: uneven, weights: float64(k.Bytes)}
	e.groups = math.Sqrt(e.used / grouped)
	a := b.device.arithmetic(k.Scheme)
	e.peak, e.in, e.quantise = a.peak, a.in, a.in < 2
	class := Class(k.Scheme)
	l := b.mixtures(class, a.format)
	e.at = expertCoefs{b.need("experts.floor", l), b.need("experts.memory", l), b.need("experts.compute", l), b.need("experts.half", l), b.need("experts.skew", nil),
		b.need(productMemory, b.products(class, a.format))}
	return e
}

// seconds of the tokens of all ranks that share the experts. Of E experts, T tokens that take k each reach
// E (1 - (1 - k/E)^(T^skew)): choices are not independent. Rows of an expert fill tiles the worse the fewer
// they are. Few rows of an expert are a product that waits for its weights: it reaches the share of the memory's rate
// that products of the class reach on the device, times what the mixture's kernels keep of it. What they keep is
// known from whole engines on devices with HBM; products are timed on others too.
//
//	floor × sqrt(used/8) + ((FLOPs / (peak × compute × n / (n + half)))^p + (bytes / (bandwidth × min(1, product × memory)))^p)^(1/p),  n = rows of an expert
func (e *experts) seconds(p *point, d *device, c []float64) float64 {
	touched, rows := e.touched(p, c), e.chosen(p)
	n := rows / math.Max(1, touched)
	return e.groups*c[e.at.floor] + norm(e.work(n, rows, c), e.bytes(rows, touched)/(d.bandwidth*e.reached(c)))
}

// reached is the share of the memory's rate.
func (e *experts) reached(c []float64) float64 { return share(c[e.at.product] * c[e.at.memory]) }

func (e *experts) slopes(p *point, d *device, c, out []float64, times float64) float64 {
	t := e.seconds(p, d, c)
	floor := e.groups * c[e.at.floor]
	touched, rows := e.touched(p, c), e.chosen(p)
	n := rows / math.Max(1, touched)
	byWork, byBytes := overlapping(e.work(n, rows, c), e.bytes(rows, touched)/(d.bandwidth*e.reached(c)))
	out[e.at.floor] += times * floor
	if e.reached(c) < 1 {
		out[e.at.memory] -= byBytes * times
		out[e.at.product] -= byBytes * times
	}
	slowed(e.at.compute, byWork*times, c, out)
	out[e.at.half] += times * byWork * c[e.at.half] / (n + c[e.at.half])
	was := c[e.at.skew]
	c[e.at.skew] = was * (1 + nudge)
	out[e.at.skew] += times * (e.seconds(p, d, c) - t) / nudge
	c[e.at.skew] = was
	return t
}

func (e *experts) quantises() bool { return e.quantise }

// work is the time of the operations of rows, of which each expert has n.
func (e *experts) work(n, rows float64, c []float64) float64 {
	return 2 * rows * e.rows * e.cols / (e.peak * share(c[e.at.compute]) * n / (n + c[e.at.half]))
}

// overlapping are the derivatives of a 4-norm by the logarithms of its sides.
func overlapping(a, b float64) (byA, byB float64) {
	t := norm(a, b)
	if t == 0 {
		return 0, 0
	}
	return t * fourth(a/t), t * fourth(b/t)
}

// slowed adds what a share of a rate takes off the time, unless it is at the datasheet's.
func slowed(at int, seconds float64, c, out []float64) {
	if c[at] < 1 {
		out[at] -= seconds
	}
}

// touched is how many experts of the rank the tokens reach, chosen how many rows these multiply.
func (e *experts) touched(p *point, c []float64) float64 {
	return e.held * (1 - math.Pow(1-e.used/e.all, math.Pow(p.all, c[e.at.skew])))
}

func (e *experts) chosen(p *point) float64 { return e.uneven * p.all * e.used * e.held / e.all }

// bytes that rows of so many experts move.
func (e *experts) bytes(rows, touched float64) float64 {
	perRow := e.cols*e.in + 2*e.rows
	if e.quantise {
		perRow += e.cols * (2 + e.in)
	}
	return e.weights*touched/e.held + rows*perRow
}
