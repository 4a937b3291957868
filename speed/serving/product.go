package serving

import (
	"math"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/unit"
)

// product is a matrix product of a rank: rows × cols weights with a number of rows of activations.
type product struct {
	output     bool // of rows with logits alone
	rows, cols float64
	weights    float64 // bytes
	peak       float64 // operations a second
	in         float64 // bytes of an activation that goes in
	quantise   bool    // activations come in 16 bits and are quantised first
	// at are the coefficients: floor, memory, compute, heat, quantise.
	at [5]int
}

// multiplies returns the arithmetic of a linear layer: Marlin's kernels read narrow weights and multiply in 16 bits.
func (b *book) multiplies(s *dtype.Scheme) arithmetic {
	if b.linear == BackendMarlin && Class(s) != "16bit" {
		return b.device.arithmetic(nil)
	}
	return b.device.arithmetic(s)
}

func (g *product) quantises() bool { return g.quantise }

// productMemory is the share of the memory's rate that products reach.
const productMemory = "product.memory"

var productCoefs = [5]string{"product.floor", productMemory, "product.compute", "product.heat", "product.quantise"}

func (b *book) product(s *dtype.Scheme, rows, cols int64, stored unit.Bytes) product {
	p := product{rows: float64(rows), cols: float64(cols), weights: float64(stored)}
	a := b.multiplies(s)
	p.peak, p.in, p.quantise = a.peak, a.in, a.in < 2
	for i, name := range productCoefs {
		p.at[i] = b.need(name, b.products(Class(s), a.format))
	}
	return p
}

// Class returns the class of a matrix, by which product kernels differ.
func Class(s *dtype.Scheme) string {
	if s == nil {
		return "16bit"
	}
	switch s.Elem.Name {
	case "f32", "bf16", "f16":
		return "16bit"
	}
	switch name := s.Name; {
	case strings.HasPrefix(name, "nvfp4"):
		return "nvfp4"
	case strings.HasPrefix(name, "mxfp4"):
		return "mxfp4"
	case strings.HasPrefix(name, "fp8-block"):
		return "fp8-block"
	case s.Elem == dtype.FP8E4M3:
		return "fp8"
	case strings.HasPrefix(name, "int8"), s == dtype.LLMInt8:
		return "int8"
	}
	return "int4" // weights alone in few bits
}

// smallTile is the rows of a tile on tensor cores of products, and of attention, of few rows.
const smallTile = 64

func (g *product) seconds(p *point, d *device, c []float64) float64 {
	if g.output && p.outputs == 0 {
		return 0
	}
	return g.secondsFor(g.tokens(p), d, c)
}

// tokens that it multiplies.
func (g *product) tokens(p *point) float64 {
	if g.output {
		return p.outputs
	}
	return p.tokens
}

// secondsFor is what the product of m rows takes: a floor for the launch and the first tiles, and then what is
// slower of memory and arithmetic. Both overlap but not quite, so that the sum is a p-norm (p = 4). Long
// products run at a lower clock, so that the rate falls with the time they take.
//
//	floor + ((FLOPs / (peak × compute × fill × (1 + t/100 us)^-heat))^p + (bytes / (bandwidth × memory))^p)^(1/p)
//	 + bytes of activations that are quantised / (bandwidth × quantise)
func (g *product) secondsFor(m float64, d *device, c []float64) float64 {
	work, bytes := g.sides(m, d, c)
	return c[g.at[0]] + norm(heated(work, c[g.at[3]]), bytes) + g.quantised(m, d, c)
}

// sides are the times of arithmetic at the full clock and of memory.
func (g *product) sides(m float64, d *device, c []float64) (work, memory float64) {
	return 2 * m * g.rows * g.cols / (g.peak * share(c[g.at[2]]) * fill(m, g.rows, d.sms)), g.bytes(m) / (d.bandwidth * share(c[g.at[1]]))
}

// bytes that the product of m rows moves.
func (g *product) bytes(m float64) float64 {
	b := g.weights + m*(g.cols*g.in+2*g.rows)
	return b
}

func (g *product) quantised(m float64, d *device, c []float64) float64 {
	return g.quantising(m) / (d.bandwidth * share(c[g.at[4]]))
}

// quantising returns the bytes moved to quantize 16-bit activations in a separate kernel.
func (g *product) quantising(m float64) float64 {
	if !g.quantise {
		return 0
	}
	return m * g.cols * (2 + g.in)
}

// heated is the time of work at the clock that a device keeps for so long.
func heated(work, heat float64) float64 { return work * math.Exp(heat*math.Log1p(work/1e-4)) }

func (g *product) slopes(p *point, d *device, c, out []float64, times float64) float64 {
	m := g.tokens(p)
	if m == 0 && g.output {
		return 0
	}
	work, bytes := g.sides(m, d, c)
	heat := c[g.at[3]]
	a := heated(work, heat)
	t := norm(a, bytes)
	floor := c[g.at[0]]
	out[g.at[0]] += times * floor
	if t > 0 {
		x := work / 1e-4
		byWork, byBytes := times*t*fourth(a/t), times*t*fourth(bytes/t)
		if c[g.at[1]] < 1 {
			out[g.at[1]] -= byBytes
		}
		if c[g.at[2]] < 1 {
			out[g.at[2]] -= byWork * (1 + heat*x/(1+x))
		}
		out[g.at[3]] += byWork * heat * math.Log1p(x)
	}
	quantised := g.quantised(m, d, c)
	slowed(g.at[4], times*quantised, c, out)
	return floor + t + quantised
}

func fourth(x float64) float64 { return x * x * x * x }

func norm(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if a == 0 {
		return 0
	}
	x := b / a
	x *= x
	return a * math.Sqrt(math.Sqrt(1+x*x))
}

// tilings are tiles, in rows and columns, among which libraries choose, and what of the arithmetic each reaches. That
// each halving of a tile costs some 3 %, for operands that are read from shared memory more often, is set by hand: of
// none to a quarter it fits the products of validation/kernels best.
var tilings = [...]struct{ rows, cols, reach float64 }{
	{256, 128, 1}, {128, 256, 1}, {128, 128, 0.966}, {64, 256, 0.966}, {64, 128, 0.933}, {64, 64, 0.901},
}

// fill is the share of the multiprocessors' work that is of use with the best of the tilings: rows and columns are padded
// to a tile, and the last wave of tiles is not full. Few rows take a tile as small as they allow, and their sums are
// divided among the multiprocessors.
func fill(m, n, sms float64) float64 {
	if m <= smallTile {
		tile := 16.0
		for tile < m {
			tile *= 2
		}
		return m / tile
	}
	best := 0.0
	for i := range tilings {
		t := &tilings[i]
		tiles := math.Ceil(m/t.rows) * math.Ceil(n/t.cols)
		waves := math.Ceil(tiles / sms)
		best = math.Max(best, t.reach*m*n/(t.rows*t.cols*waves*sms))
	}
	return best
}

// share of a datasheet's rate: a coefficient never takes more than there is.
func share(c float64) float64 { return math.Min(1, c) }
