package quant

import (
	"math"

	"github.com/memwall/memwall/dtype"
)

// minifloat rounds float32 to a narrower format: to nearest, ties to even code. Overflow becomes the largest finite
// number, or infinity if the format has one and saturate is off.
type minifloat struct {
	cut        uint    // fraction bits that float32 has more
	low        uint32  // what the exponent's offset takes off a code
	normal     float32 // the smallest normal number
	steps      float32 // of subnormal numbers in 1
	top        uint32  // the code of the largest finite number
	over       uint32  // the code of what lies beyond
	sign       uint    // where the sign goes
	fractional int
	of         *dtype.Float
}

const (
	f32Fraction = 23
	f32Bias     = 127
	// magic: adding it leaves a float32 of less than 2^22 rounded to a whole number, ties to even.
	magic     = 3 << 22
	magicBits = 0x4b400000
	// magnitude is the bits of a number without its sign.
	magnitude = 1<<31 - 1
)

func newMinifloat(f *dtype.Float, saturate bool) *minifloat {
	m := &minifloat{
		cut: uint(f32Fraction - f.Fraction), low: uint32(f32Bias-f.Bias()) << f.Fraction,
		normal: float32(f.SmallestNormal()), steps: float32(1 / f.SmallestSubnormal()),
		sign: uint(f.Exponent + f.Fraction), fractional: f.Fraction, of: f,
	}
	m.top = m.round(math.Float32bits(float32(f.Max())))
	m.over = m.top
	if !saturate {
		m.over = m.top + 1
	}
	return m
}

// round cuts the fraction of a normal number.
func (m *minifloat) round(bits uint32) uint32 {
	bits += 1<<(m.cut-1) - 1 + bits>>m.cut&1
	return bits>>m.cut - m.low
}

// encode gives the code of a number that is not a NaN.
func (m *minifloat) encode(x float32) uint32 {
	bits := math.Float32bits(x)
	abs := bits &^ (1 << 31)
	var code uint32
	if a := math.Float32frombits(abs); a < m.normal {
		code = uint32(nearest(a * m.steps))
	} else if code = m.round(abs); code > m.top {
		code = m.over
	}
	return code | bits>>31<<m.sign
}

// decode gives the number of a code; infinities and NaN are not asked for.
func (m *minifloat) decode(code uint32) float32 {
	negative := code >> m.sign & 1
	code &= 1<<m.sign - 1
	var x float32
	if code>>m.fractional == 0 {
		x = float32(code) / m.steps
	} else {
		x = math.Float32frombits((code + m.low) << m.cut)
	}
	return math.Float32frombits(math.Float32bits(x) | negative<<31)
}

// table of all codes.
func (m *minifloat) table() []float32 {
	t := make([]float32, 2<<m.sign)
	for c := range t {
		t[c] = m.decode(uint32(c))
	}
	return t
}

var (
	half  = newMinifloat(dtype.F16.Float, false)
	e4m3  = newMinifloat(dtype.FP8E4M3.Float, true)
	e5m2  = newMinifloat(dtype.FP8E5M2.Float, true)
	e2m1  = newMinifloat(dtype.FP4E2M1.Float, true)
	e4m3s = e4m3.table()
	e5m2s = e5m2.table()
	e2m1s = e2m1.table()
)

// nearest whole number, ties to even, of |x| < 2^22.
func nearest(x float32) int32 { return int32(math.Float32bits(x+magic)) - magicBits }

// justBelowHalf is the largest float32 below a half. Added to a number before its fraction is cut off, it rounds ties
// away from zero: the sum of a tie rounds up to the next whole number, and that of the number below a tie does not.
const justBelowHalf = 0x3effffff

// awayFromZero rounds to the nearest whole number, ties away from zero, of |x| < 2^22.
func awayFromZero(x float32) int32 {
	return int32(x + math.Float32frombits(justBelowHalf|math.Float32bits(x)&(1<<31)))
}

func toHalf(x float32) uint16 { return uint16(half.encode(x)) }

// ofHalf converts an f16; the multiplication also normalizes subnormal numbers.
func ofHalf(h uint16) float32 {
	const inf = 0x7c00
	sign := uint32(h) >> 15 << 31
	x := math.Float32frombits(uint32(h)&0x7fff<<13) * 0x1p112
	if h&inf == inf {
		x = math.Float32frombits(0xff<<f32Fraction | uint32(h)&0x3ff<<13)
	}
	return math.Float32frombits(math.Float32bits(x) | sign)
}

func ofBrain(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }

func toBrain(x float32) uint16 {
	b := math.Float32bits(x)
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

// exponent returns the integral part of the base-2 logarithm of a positive number.
func exponent(x float32) int {
	if x < 0x1p-126 {
		return exponent(x*0x1p24) - 24
	}
	return int(math.Float32bits(x)>>f32Fraction&0xff) - f32Bias
}

// power of two, from 2^-149 to 2^127.
func power(e int) float32 { return float32(math.Ldexp(1, e)) }
