package quant

import (
	"encoding/binary"
	"math"

	"github.com/memwall/memwall/dtype"
)

// Formats of the hub keep codes, scales and zero points in tensors of their own. In memory a row is its codes, then
// its scales, then its zero points; whoever writes a file takes them apart.

// scaleStore is how scales are kept.
type scaleStore struct {
	bytes int
	round func(float32) float32
	put   func([]byte, float32)
	get   func([]byte) float32
}

var (
	scaleF32 = scaleStore{4, func(x float32) float32 { return x },
		func(b []byte, x float32) { binary.LittleEndian.PutUint32(b, math.Float32bits(x)) },
		func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }}
	scaleF16  = scaleStore{2, stored, putHalf, getHalf}
	scaleBF16 = scaleStore{2, func(x float32) float32 { return ofBrain(toBrain(x)) },
		func(b []byte, x float32) { binary.LittleEndian.PutUint16(b, toBrain(x)) },
		func(b []byte) float32 { return ofBrain(binary.LittleEndian.Uint16(b)) }}
)

// integers are rows of 2-, 4- or 8-bit whole numbers in groups of columns. Symmetric ones are scaled so that the largest
// magnitude is half the range (compressed-tensors: absmax / 7.5 or 127.5); those with a zero point spread the range
// from the smallest to the largest element, 0 included, which stays exact.
type integers struct {
	cols, group int
	bits        int
	zero        bool
	scale       scaleStore
	// fixed: one scale and zero point for the whole matrix, which lie outside of its rows.
	fixed bool
	d     float32
	z     int32
}

func newIntegers(s *Survey, bits int, group int64, zero bool, scale scaleStore) *integers {
	c := &integers{cols: int(s.Cols), group: int(s.Cols), bits: bits, zero: zero, scale: scale}
	switch {
	case group > 0:
		c.group = int(min(group, s.Cols))
	case group < 0:
		c.fixed = true
		c.d, c.z = c.between(s.Min, s.Max)
	}
	return c
}

func (c *integers) low() int32  { return -1 << (c.bits - 1) }
func (c *integers) high() int32 { return 1<<(c.bits-1) - 1 }

func (c *integers) groups() int { return (c.cols + c.group - 1) / c.group }

func (c *integers) codeBytes() int { return (c.cols*c.bits + 7) / 8 }

// zerosAt is where the zero points begin.
func (c *integers) zerosAt() int {
	if c.fixed {
		return c.codeBytes()
	}
	return c.codeBytes() + c.groups()*c.scale.bytes
}

func (c *integers) Unit() (int, int) {
	n := c.zerosAt()
	if c.zero && !c.fixed {
		n += (c.groups()*c.bits + 7) / 8
	}
	return c.cols, n
}

// between gives scale and zero point of elements from lo to hi, which hold 0 between them.
func (c *integers) between(lo, hi float32) (d float32, z int32) {
	steps := float32(int32(1)<<c.bits - 1)
	if !c.zero {
		return c.scale.round(max(-lo, hi) / (steps / 2)), 0
	}
	d = c.scale.round((hi - lo) / steps)
	if inverse(d) == 0 {
		return 0, 0
	}
	return d, max(c.low(), min(c.high(), nearest(float32(c.low())-lo/d)))
}

// choose gives scale and zero point of a group.
func (c *integers) choose(x, w []float32) (float32, int32) {
	if c.fixed {
		return c.d, c.z
	}
	lo, hi := extent(x)
	lo, hi = min(0, lo), max(0, hi)
	if w == nil || lo == hi {
		return c.between(lo, hi)
	}
	if !c.zero {
		return c.scale.round(symmetric(x, w, int(c.high())+1)), 0
	}
	return c.shrunk(x, w, lo, hi)
}

// shrunk tries smaller ranges, which cost the outermost elements and are finer for the rest.
func (c *integers) shrunk(x, w []float32, lo, hi float32) (d float32, z int32) {
	best := float32(math.Inf(1))
	for k := range 8 {
		s := 1 - float32(k)/16
		dd, zz := c.between(lo*s, hi*s)
		if e := c.cost(x, w, dd, zz); e < best {
			d, z, best = dd, zz, e
		}
	}
	return d, z
}

func (c *integers) cost(x, w []float32, d float32, z int32) (e float32) {
	lo, hi := c.low(), c.high()
	for i, v := range x {
		r := v - float32(max(lo, min(hi, nearest(clip(v/d))+z))-z)*d
		e += w[i] * r * r
	}
	return e
}

// clip keeps a quotient in the range in which nearest is right.
func clip(v float32) float32 { return max(-1<<20, min(1<<20, v)) }

func (c *integers) Encode(dst []byte, x, w []float32) {
	zeros := dst[c.zerosAt():]
	clear(zeros)
	for g, at := 0, 0; at < c.cols; g, at = g+1, at+c.group {
		end := min(at+c.group, c.cols)
		var weights []float32
		if w != nil {
			weights = w[at:end]
		}
		d, z := c.choose(x[at:end], weights)
		if !c.fixed {
			c.scale.put(dst[c.codeBytes()+g*c.scale.bytes:], d)
		}
		if c.zero && !c.fixed {
			c.putCode(zeros, g, z)
		}
		c.codes(dst, x[at:end], at, d, z)
	}
}

// codes of elements from column at on.
func (c *integers) codes(dst []byte, x []float32, at int, d float32, z int32) {
	if c.bits == 8 && inverse(d) != 0 {
		c.bytes(dst[at:at+len(x)], x, d, z)
		return
	}
	lo, hi := c.low(), c.high()
	for i, v := range x {
		q := z
		if inverse(d) != 0 {
			q = max(lo, min(hi, nearest(v/d)+z))
		}
		c.putCode(dst, at+i, q)
	}
}

func (c *integers) bytes(dst []byte, x []float32, d float32, z int32) {
	for i, v := range x {
		dst[i] = byte(max(-128, min(127, nearest(v/d)+z)))
	}
}

// putCode stores a code; of several in a byte the first is lowest, and all are counted from the lowest code. They come in
// order.
func (c *integers) putCode(dst []byte, i int, q int32) {
	if c.bits == 8 {
		dst[i] = byte(q)
		return
	}
	at, shift := c.lies(i)
	dst[at] = dst[at]&(1<<shift-1) | byte(q-c.low())<<shift
}

// lies says the byte of a code of less than 8 bits, and how far up in it the code lies.
func (c *integers) lies(i int) (at, shift int) { return i * c.bits / 8, i * c.bits % 8 }

func (c *integers) code(src []byte, i int) int32 {
	if c.bits == 8 {
		return int32(int8(src[i]))
	}
	at, shift := c.lies(i)
	return int32(src[at]>>shift)&(1<<c.bits-1) + c.low()
}

func (c *integers) Decode(x []float32, src []byte) {
	zeros := src[c.zerosAt():]
	if c.bits == 8 && !c.zero && c.group == c.cols {
		c.row(x, src)
		return
	}
	for g, at := 0, 0; at < c.cols; g, at = g+1, at+c.group {
		d, z := c.d, c.z
		if !c.fixed {
			d, z = c.scale.get(src[c.codeBytes()+g*c.scale.bytes:]), 0
			if c.zero {
				z = c.code(zeros, g)
			}
		}
		for i := at; i < min(at+c.group, c.cols); i++ {
			x[i] = float32(c.code(src, i)-z) * d
		}
	}
}

// row reads a row of one scale and no zero point.
func (c *integers) row(x []float32, src []byte) {
	d := c.d
	if !c.fixed {
		d = c.scale.get(src[c.codeBytes():])
	}
	src = src[:len(x)]
	for i, q := range src {
		x[i] = float32(int8(q)) * d
	}
}

// llmInt8 is bitsandbytes' 8-bit row: codes to 127 of the row's largest magnitude, and outlier columns in f16 behind
// it (arXiv:2208.07339).
type llmInt8 struct {
	cols     int
	outliers []int32
}

func (c *llmInt8) Unit() (int, int) { return c.cols, c.cols + 4 + 2*len(c.outliers) }

func (c *llmInt8) Encode(dst []byte, x, _ []float32) {
	for i, col := range c.outliers {
		putHalf(dst[c.cols+4+2*i:], x[col])
	}
	if len(c.outliers) > 0 {
		x = append([]float32(nil), x[:c.cols]...)
		for _, col := range c.outliers {
			x[col] = 0
		}
	}
	top := largest(x[:c.cols])
	scaleF32.put(dst[c.cols:], top)
	id := 127 * inverse(top)
	for i, v := range x[:c.cols] {
		dst[i] = byte(nearest(v * id))
	}
}

func (c *llmInt8) Decode(x []float32, src []byte) {
	d := scaleF32.get(src[c.cols:]) / 127
	for i, q := range src[:c.cols] {
		x[i] = float32(int8(q)) * d
	}
	for i, col := range c.outliers {
		x[col] = getHalf(src[c.cols+4+2*i:])
	}
}

// eights are rows of 8-bit floating-point numbers with one scale each, or one for the whole matrix.
type eights struct {
	cols  int
	of    *minifloat
	codes []float32
	top   float32
	scale scaleStore
	fixed bool
	d     float32
}

func newEights(s *Survey, of *minifloat, codes []float32, tensor bool, scale scaleStore) *eights {
	c := &eights{cols: int(s.Cols), of: of, codes: codes, top: float32(of.of.Max()), scale: scale, fixed: tensor}
	c.d = c.scale.round(s.AbsMax / c.top)
	return c
}

func (c *eights) Unit() (int, int) {
	if c.fixed {
		return c.cols, c.cols
	}
	return c.cols, c.cols + c.scale.bytes
}

func (c *eights) Encode(dst []byte, x, _ []float32) {
	d := c.d
	if !c.fixed {
		d = c.scale.round(largest(x) / c.top)
		c.scale.put(dst[c.cols:], d)
	}
	c.of.encodeAll(dst[:c.cols], x, d)
}

// encodeAll stores quotients as bytes; 0 where the scale is none. It is encode with its numbers at hand.
func (m *minifloat) encodeAll(dst []byte, x []float32, d float32) {
	if inverse(d) == 0 {
		clear(dst)
		return
	}
	if m == e4m3 {
		eightBits(dst, x, d)
		return
	}
	cut, low, normal, steps, top, over, sign := m.cut&31, m.low, m.normal, m.steps, m.top, m.over, m.sign&31
	x = x[:len(dst)]
	for i, v := range x {
		v /= d
		bits := math.Float32bits(v)
		abs := bits &^ (1 << 31)
		var code uint32
		if a := math.Float32frombits(abs); a < normal {
			code = uint32(nearest(a * steps))
		} else if code = (abs+1<<(cut-1)-1+abs>>cut&1)>>cut - low; code > top {
			code = over
		}
		dst[i] = byte(code | bits>>31<<sign)
	}
}

// eightBits is encodeAll of e4m3 with its numbers known to the compiler, which is what most of 8 bits are stored in.
func eightBits(dst []byte, x []float32, d float32) {
	const (
		cut    = f32Fraction - 3
		low    = (f32Bias - 7) << 3
		top    = 0x7e
		normal = 1.0 / 64
		steps  = 512
	)
	x = x[:len(dst)]
	for i, v := range x {
		v /= d
		bits := math.Float32bits(v)
		abs := bits &^ (1 << 31)
		code := (abs+1<<(cut-1)-1+abs>>cut&1)>>cut - low
		if a := math.Float32frombits(abs); a < normal {
			code = uint32(nearest(a * steps))
		}
		dst[i] = byte(min(code, top) | bits>>31<<7)
	}
}

func (c *eights) Decode(x []float32, src []byte) {
	d := c.d
	if !c.fixed {
		d = c.scale.get(src[c.cols:])
	}
	for i, q := range src[:c.cols] {
		x[i] = c.codes[q] * d
	}
}

// blockRows is the side of the square blocks of fp8 checkpoints that have one scale per block.
const blockRows = 128

// squares are strips of 128 rows: codes row by row, then the scales of the strip's blocks.
type squares struct{ cols int }

func (c *squares) tiles() int { return (c.cols + blockRows - 1) / blockRows }

func (c *squares) Unit() (int, int) { return blockRows * c.cols, blockRows*c.cols + 4*c.tiles() }

func (c *squares) Encode(dst []byte, x, _ []float32) {
	rows, top := len(x)/c.cols, float32(dtype.FP8E4M3.Float.Max())
	for t := range c.tiles() {
		from, to := t*blockRows, min((t+1)*blockRows, c.cols)
		var most float32
		for r := range rows {
			most = max(most, largest(x[r*c.cols+from:r*c.cols+to]))
		}
		d := most / top
		scaleF32.put(dst[rows*c.cols+4*t:], d)
		for r := range rows {
			e4m3.encodeAll(dst[r*c.cols+from:r*c.cols+to], x[r*c.cols+from:], d)
		}
	}
}

func (c *squares) Decode(x []float32, src []byte) {
	rows := len(x) / c.cols
	for r := range rows {
		for t := range c.tiles() {
			d := scaleF32.get(src[rows*c.cols+4*t:])
			for i := r*c.cols + t*blockRows; i < r*c.cols+min((t+1)*blockRows, c.cols); i++ {
				x[i] = e4m3s[src[i]] * d
			}
		}
	}
}

// shared are rows of floating-point elements in groups with a shared scale: a power of two for the MX formats (OCP
// Microscaling specification 1.0, section 6.3: the largest power of two in the group over that of the element
// format), an e4m3 number in units of the matrix's own for NVFP4.
type shared struct {
	cols, group int
	of          *minifloat
	codes       []float32
	// unit of NVFP4: what its e4m3 scales are multiplied with; 0 for MX.
	unit float32
}

// newNVFP4: the largest group's scale becomes the largest e4m3 number.
func newNVFP4(s *Survey) *shared {
	unit := s.AbsMax / float32(e2m1.of.Max()*e4m3.of.Max())
	if inverse(unit) == 0 {
		unit = 1
	}
	return &shared{cols: int(s.Cols), group: 16, of: e2m1, codes: e2m1s, unit: unit}
}

func (c *shared) groups() int { return (c.cols + c.group - 1) / c.group }

func (c *shared) codeBytes() int {
	if c.of == e2m1 {
		return (c.cols + 1) / 2
	}
	return c.cols
}

func (c *shared) Unit() (int, int) { return c.cols, c.codeBytes() + c.groups() }

// choose gives a group's stored scale and its value.
func (c *shared) choose(x []float32) (code byte, d float32) {
	most := largest(x)
	if c.unit != 0 {
		code = byte(e4m3.encode(most / float32(c.of.of.Max()) / c.unit))
		return code, e4m3s[code] * c.unit
	}
	if most == 0 {
		return 0, 0
	}
	e := max(-f32Bias, min(f32Bias, exponent(most)-exponent(float32(c.of.of.Max()))))
	return byte(e + f32Bias), power(e)
}

func (c *shared) value(code byte) float32 {
	if c.unit != 0 {
		return e4m3s[code] * c.unit
	}
	return power(int(code) - f32Bias)
}

func (c *shared) Encode(dst []byte, x, _ []float32) {
	for g, at := 0, 0; at < c.cols; g, at = g+1, at+c.group {
		part := x[at:min(at+c.group, c.cols)]
		code, d := c.choose(part)
		dst[c.codeBytes()+g] = code
		if c.of != e2m1 {
			c.of.encodeAll(dst[at:at+len(part)], part, d)
			continue
		}
		var q [32]byte
		c.of.encodeAll(q[:len(part)], part, d)
		for i := 0; i < len(part); i += 2 {
			dst[(at+i)/2] = q[i] | q[i+1]<<4
		}
	}
}

func (c *shared) Decode(x []float32, src []byte) {
	for g, at := 0, 0; at < c.cols; g, at = g+1, at+c.group {
		d := c.value(src[c.codeBytes()+g])
		for i := at; i < min(at+c.group, c.cols); i++ {
			if c.of == e2m1 {
				x[i] = c.codes[src[i/2]>>(i%2*4)&15] * d
			} else {
				x[i] = c.codes[src[i]] * d
			}
		}
	}
}
