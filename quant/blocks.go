package quant

import (
	"encoding/binary"
	"math"
)

// Blocks of 32 in GGUF files: an f16 scale, for some an f16 minimum, and the elements. In a byte of 4-bit elements, the
// low half is element j and the high half element j+16. The definitions are those of the reference encoders in
// ggml/src/ggml-quants.c: the largest magnitude, or the range, determines the scale. If elements have weights, the
// scale is searched for instead (scales.go).

const block = 32

type (
	q4zero struct{}
	q4one  struct{}
	q5zero struct{}
	q5one  struct{}
	q8zero struct{}
)

func (q4zero) Unit() (int, int) { return block, 18 }
func (q4one) Unit() (int, int)  { return block, 20 }
func (q5zero) Unit() (int, int) { return block, 22 }
func (q5one) Unit() (int, int)  { return block, 24 }
func (q8zero) Unit() (int, int) { return block, 34 }

// extreme returns the element of the largest magnitude; on a tie, the first.
func extreme(x []float32) float32 {
	const sign = 1 << 31
	up, down := outermost(x)
	switch {
	case down < sign || uint32(up) > down&^sign:
		return math.Float32frombits(uint32(up))
	case uint32(up) < down&^sign:
		return math.Float32frombits(down)
	}
	for _, e := range x {
		if b := math.Float32bits(e) &^ sign; b == uint32(up) {
			return e
		}
	}
	return 0
}

// outermost returns the bits of the largest non-negative and of the smallest negative number: as integers, positive
// numbers are in order, and negative ones above them in reverse.
func outermost(x []float32) (up int32, down uint32) {
	for ; len(x) >= block; x = x[block:] {
		x := (*[block]float32)(x)
		for i := 0; i < block; i += 4 {
			b0, b1, b2, b3 := math.Float32bits(x[i]), math.Float32bits(x[i+1]), math.Float32bits(x[i+2]), math.Float32bits(x[i+3])
			up = max(up, int32(b0), int32(b1), int32(b2), int32(b3))
			down = max(down, b0, b1, b2, b3)
		}
	}
	for _, e := range x {
		up, down = max(up, int32(math.Float32bits(e))), max(down, math.Float32bits(e))
	}
	return up, down
}

func largest(x []float32) float32 {
	var m0, m1 uint32
	for ; len(x) >= block; x = x[block:] {
		x := (*[block]float32)(x)
		for i := 0; i < block; i += 4 {
			m0 = max(m0, math.Float32bits(x[i])&magnitude, math.Float32bits(x[i+1])&magnitude)
			m1 = max(m1, math.Float32bits(x[i+2])&magnitude, math.Float32bits(x[i+3])&magnitude)
		}
	}
	for _, e := range x {
		m0 = max(m0, math.Float32bits(e)&magnitude)
	}
	return math.Float32frombits(max(m0, m1))
}

func extent(x []float32) (lo, hi float32) {
	lo, hi = x[0], x[0]
	for _, e := range x[1:] {
		if e < lo {
			lo = e
		}
		if e > hi {
			hi = e
		}
	}
	return lo, hi
}

// inverse returns 1/d; 0 if d is too small for that, or for an f16 field.
func inverse(d float32) float32 {
	if math.Float32bits(d)&^(1<<31) < 1<<f32Fraction {
		return 0
	}
	return 1 / d
}

func putHalf(dst []byte, x float32) { binary.LittleEndian.PutUint16(dst, toHalf(x)) }

func getHalf(src []byte) float32 { return ofHalf(binary.LittleEndian.Uint16(src)) }

// signed encodes with n levels on both sides of 0: the element of the largest magnitude gets the lowest code.
func signed(q *[block]uint8, x, importance []float32, levels int) (d float32) {
	if importance != nil {
		return searchSigned(q[:], x, importance, levels)
	}
	d = extreme(x) / float32(-levels)
	id, middle, top := inverse(d), float32(levels)+0.5, uint8(2*levels-1)
	for i, v := range x[:block] {
		q[i] = min(top, uint8(int32(float32(v*id)+middle)))
	}
	return d
}

// ranged encodes the range from the smallest to the largest element with codes 0 to top.
func ranged(q *[block]uint8, x, importance []float32, top int) (d, low float32) {
	if importance != nil {
		return searchRanged(q[:], x, importance, top)
	}
	low, high := extent(x)
	d = (high - low) / float32(top)
	id := inverse(d)
	for i, v := range x[:block] {
		q[i] = uint8(int32(float32((v-low)*id) + 0.5))
	}
	return d, low
}

func packNibbles(dst []byte, q *[block]uint8) {
	for j := range dst[:block/2] {
		dst[j] = q[j]&15 | q[j+block/2]<<4
	}
}

func packFifth(dst []byte, q *[block]uint8) {
	var high uint32
	for j, c := range q {
		high |= uint32(c>>4) << j
	}
	binary.LittleEndian.PutUint32(dst, high)
}

func (q4zero) Encode(dst []byte, x, importance []float32) {
	var q [block]uint8
	putHalf(dst, signed(&q, x, importance, 8))
	packNibbles(dst[2:], &q)
}

func (q4zero) Decode(x []float32, src []byte) {
	d, x := getHalf(src), x[:block]
	for j, c := range src[2:18] {
		x[j], x[j+block/2] = float32(int32(c&15)-8)*d, float32(int32(c>>4)-8)*d
	}
}

func (q4one) Encode(dst []byte, x, importance []float32) {
	var q [block]uint8
	d, low := ranged(&q, x, importance, 15)
	putHalf(dst, d)
	putHalf(dst[2:], low)
	packNibbles(dst[4:], &q)
}

func (q4one) Decode(x []float32, src []byte) {
	d, low, x := getHalf(src), getHalf(src[2:]), x[:block]
	for j, c := range src[4:20] {
		x[j], x[j+block/2] = float32(float32(c&15)*d)+low, float32(float32(c>>4)*d)+low
	}
}

func (q5zero) Encode(dst []byte, x, importance []float32) {
	var q [block]uint8
	putHalf(dst, signed(&q, x, importance, 16))
	packFifth(dst[2:], &q)
	packNibbles(dst[6:], &q)
}

func (q5zero) Decode(x []float32, src []byte) {
	d, high, x := getHalf(src), binary.LittleEndian.Uint32(src[2:]), x[:block]
	for j, c := range src[6:22] {
		x[j] = float32(int32(uint32(c&15)|high>>j&1<<4)-16) * d
		x[j+block/2] = float32(int32(uint32(c>>4)|high>>(j+block/2)&1<<4)-16) * d
	}
}

func (q5one) Encode(dst []byte, x, importance []float32) {
	var q [block]uint8
	d, low := ranged(&q, x, importance, 31)
	putHalf(dst, d)
	putHalf(dst[2:], low)
	packFifth(dst[4:], &q)
	packNibbles(dst[8:], &q)
}

func (q5one) Decode(x []float32, src []byte) {
	d, low, high, x := getHalf(src), getHalf(src[2:]), binary.LittleEndian.Uint32(src[4:]), x[:block]
	for j, c := range src[8:24] {
		x[j] = float32(float32(uint32(c&15)|high>>j&1<<4)*d) + low
		x[j+block/2] = float32(float32(uint32(c>>4)|high>>(j+block/2)&1<<4)*d) + low
	}
}

// Encode implements Coder. q8_0 needs no search: its error is small whatever the weights.
func (q8zero) Encode(dst []byte, x, _ []float32) {
	d := largest(x) / 127
	putHalf(dst, d)
	id, dst := inverse(d), dst[2:2+block]
	for i, v := range x[:block] {
		dst[i] = byte(awayFromZero(v * id))
	}
}

func (q8zero) Decode(x []float32, src []byte) {
	d, x := getHalf(src), x[:block]
	for i, c := range src[2 : 2+block] {
		x[i] = float32(int8(c)) * d
	}
}
