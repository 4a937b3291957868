package quant

import (
	"encoding/binary"
	"sync"
)

// K-quants of GGUF files: blocks of 256 elements in runs of 16 or 32, each run with a small integer scale, and for some
// a minimum, in units of one f16 per block. Layouts: ggml/src/ggml-common.h. The choice of codes is up to the encoder;
// here the runs' scales are found by least squares (scales.go) and rounded, and the block's units are refitted to the
// codes.

const super = 256

type (
	q2k struct{}
	q3k struct{}
	q4k struct{}
	q5k struct{}
	q6k struct{}
)

func (q2k) Unit() (int, int) { return super, 84 }
func (q3k) Unit() (int, int) { return super, 110 }
func (q4k) Unit() (int, int) { return super, 144 }
func (q5k) Unit() (int, int) { return super, 176 }
func (q6k) Unit() (int, int) { return super, 210 }

// affineRuns is a block whose runs have scales and minima: element i is d·sc·q − dmin·mn.
type affineRuns struct {
	run, top, most int // elements of a run, the largest code, the largest scale
	d, dmin        float32
	sc, mn         [16]uint8
	q              [super]uint8
}

func (b *affineRuns) find(x, w []float32) {
	var ds, ms [16]float32
	runs := super / b.run
	for i := range runs {
		ds[i], ms[i] = affine(b.part(x, i), b.part(w, i), b.top)
	}
	b.d = b.units(b.sc[:runs], ds[:runs])
	b.dmin = b.units(b.mn[:runs], ms[:runs])
	b.codes(x)
	b.refit(x, w)
	b.codes(x)
}

// part is a run of the block; nil of weights that are all the same.
func (b *affineRuns) part(x []float32, i int) []float32 {
	if x == nil {
		return nil
	}
	return x[i*b.run : (i+1)*b.run]
}

// units rounds the runs' values to whole numbers of one unit.
func (b *affineRuns) units(to []uint8, values []float32) float32 {
	u := stored(largest(values) / float32(b.most))
	id := inverse(u)
	for i, v := range values {
		to[i] = uint8(max(0, min(int32(b.most), nearest(min(v*id, magic)))))
	}
	return u
}

// codes rounds the elements with the scales as they are stored.
func (b *affineRuns) codes(x []float32) {
	top := int32(b.top)
	for i := range super / b.run {
		id, m := inverse(b.d*float32(b.sc[i])), b.dmin*float32(b.mn[i])
		q := b.q[i*b.run : (i+1)*b.run]
		for j, v := range x[i*b.run : (i+1)*b.run] {
			q[j] = uint8(max(0, min(top, int32(float32((v+m)*id)+0.5))))
		}
	}
}

// refit finds the two units that fit the codes best.
func (b *affineRuns) refit(x, w []float32) {
	var aa, ab, bb, ax, bx float32
	for i := range super / b.run {
		var s sums
		q, part := b.q[i*b.run:(i+1)*b.run], b.part(x, i)
		if w == nil {
			s = codeSums(q, part)
		} else {
			s = weightedSums(q, part, b.part(w, i))
		}
		sc, mn := float32(b.sc[i]), float32(b.mn[i])
		aa, ab, bb = aa+sc*sc*s.qq, ab+sc*mn*s.q, bb+mn*mn*s.w
		ax, bx = ax+sc*s.qx, bx+mn*s.x
	}
	// x ≈ d·a − m·b with a = sc·q and b = mn
	det := aa*bb - ab*ab
	if det <= 1e-6*aa*bb {
		b.d = stored(ratio(ax+b.dmin*ab, aa))
		return
	}
	if d, m := (bb*ax-ab*bx)/det, (ab*ax-aa*bx)/det; d > 0 && m >= 0 {
		b.d, b.dmin = stored(d), stored(m)
	}
}

func codeSums(q []uint8, x []float32) sums {
	var sum, squares uint32
	var all, product float32
	for i, c := range q[:len(x)] {
		sum += uint32(c)
		squares += uint32(c) * uint32(c)
		all += x[i]
		product += float32(c) * x[i]
	}
	return sums{float32(len(x)), float32(sum), float32(squares), all, product}
}

func weightedSums(q []uint8, x, w []float32) (s sums) {
	for i, c := range q {
		c, v, w := float32(c), x[i], w[i]
		s.w, s.x, s.q, s.qq, s.qx = s.w+w, s.x+w*v, s.q+w*c, s.qq+w*c*c, s.qx+w*c*v
	}
	return s
}

func (b *affineRuns) decode(x []float32) {
	for i := range super / b.run {
		d, m := b.d*float32(b.sc[i]), b.dmin*float32(b.mn[i])
		q := b.q[i*b.run : (i+1)*b.run]
		for j, c := range q {
			x[i*b.run+j] = float32(d*float32(c)) - m
		}
	}
}

// signedRuns is a block whose runs have signed scales: element i is d·sc·q.
type signedRuns struct {
	run, levels, most int // elements of a run, codes from -levels to levels-1, scales from -most to most-1
	d                 float32
	sc                [16]int8
	q                 [super]int8
}

func (b *signedRuns) find(x, w []float32) {
	var ds [16]float32
	runs := super / b.run
	for i := range runs {
		ds[i] = symmetric(part(x, i, b.run), part(w, i, b.run), b.levels)
	}
	b.d = signedUnits(b.sc[:runs], ds[:runs], b.most)
	b.codes(x)
	b.refit(x, w)
	b.codes(x)
}

func part(x []float32, i, run int) []float32 {
	if x == nil {
		return nil
	}
	return x[i*run : (i+1)*run]
}

// signedUnits rounds the runs' scales to whole numbers from -most to most-1 of one unit.
func signedUnits(to []int8, values []float32, most int) float32 {
	u := stored(extreme(values) / float32(-most))
	id, n := inverse(u), int32(most)
	for i, v := range values {
		to[i] = int8(max(-n, min(n-1, nearest(v*id))))
	}
	return u
}

func (b *signedRuns) codes(x []float32) {
	n := int32(b.levels)
	for i := range super / b.run {
		id := inverse(b.d * float32(b.sc[i]))
		q := b.q[i*b.run : (i+1)*b.run]
		for j, v := range x[i*b.run : (i+1)*b.run] {
			q[j] = int8(max(-n, min(n-1, nearest(v*id))))
		}
	}
}

func (b *signedRuns) refit(x, w []float32) {
	var aa, ax float32
	for i := range super / b.run {
		sc := float32(b.sc[i])
		for j := i * b.run; j < (i+1)*b.run; j++ {
			a, v := sc*float32(b.q[j]), x[j]
			wa := a
			if w != nil {
				wa *= w[j]
			}
			aa, ax = aa+wa*a, ax+wa*v
		}
	}
	if d := ratio(ax, aa); d != 0 {
		b.d = stored(d)
	}
}

func (b *signedRuns) decode(x []float32) {
	for i := range super / b.run {
		d := b.d * float32(b.sc[i])
		for j := i * b.run; j < (i+1)*b.run; j++ {
			x[j] = d * float32(b.q[j])
		}
	}
}

// packSixes puts 8 scales and 8 minima of 6 bits into 12 bytes: of the first four the low six bits of bytes 0-3 and
// 4-7, of the last four the halves of bytes 8-11 and the two high bits of the bytes before.
func packSixes(to []byte, sc, mn *[16]uint8) {
	for j := range 4 {
		to[j] = sc[j] | sc[j+4]>>4<<6
		to[j+4] = mn[j] | mn[j+4]>>4<<6
		to[j+8] = sc[j+4]&15 | mn[j+4]<<4
	}
}

func unpackSixes(from []byte, sc, mn *[16]uint8) {
	for j := range 4 {
		sc[j], mn[j] = from[j]&63, from[j+4]&63
		sc[j+4] = from[j+8]&15 | from[j]>>6<<4
		mn[j+4] = from[j+8]>>4 | from[j+4]>>6<<4
	}
}

func (q4k) Encode(dst []byte, x, w []float32) {
	b := affineRuns{run: 32, top: 15, most: 63}
	b.find(x, w)
	b.head(dst)
	q4k{}.place(dst, b.q[:])
}

// head is d, dmin and the scales of q4_k and q5_k.
func (b *affineRuns) head(dst []byte) {
	putHalf(dst, b.d)
	putHalf(dst[2:], b.dmin)
	packSixes(dst[4:], &b.sc, &b.mn)
}

func (b *affineRuns) readHead(src []byte) {
	b.d, b.dmin = getHalf(src), getHalf(src[2:])
	unpackSixes(src[4:], &b.sc, &b.mn)
}

// packHalves puts the low four bits of elements l and l+32 of each 64 into one byte.
func packHalves(to []byte, q *[super]uint8) {
	for j := range super / 64 {
		for l := range 32 {
			to[32*j+l] = q[64*j+l]&15 | q[64*j+32+l]<<4
		}
	}
}

func unpackHalves(q *[super]uint8, from []byte) {
	for j := range super / 64 {
		for l := range 32 {
			c := from[32*j+l]
			q[64*j+l], q[64*j+32+l] = c&15, c>>4
		}
	}
}

func (q4k) Decode(x []float32, src []byte) {
	b := affineRuns{run: 32}
	b.readHead(src)
	unpackHalves(&b.q, src[16:])
	b.decode(x)
}

func (q5k) Encode(dst []byte, x, w []float32) {
	b := affineRuns{run: 32, top: 31, most: 63}
	b.find(x, w)
	b.head(dst)
	q5k{}.place(dst, b.q[:])
}

func (q5k) Decode(x []float32, src []byte) {
	b := affineRuns{run: 32}
	b.readHead(src)
	unpackHalves(&b.q, src[48:])
	for i := range b.q {
		b.q[i] |= src[16+i%32] >> (i / 32) & 1 << 4
	}
	b.decode(x)
}

// packPairs puts the low two bits of elements l, l+32, l+64 and l+96 of each 128 into one byte.
func packPairs(to []byte, q *[super]uint8) {
	for h := range 2 {
		for l := range 32 {
			c := q[128*h:]
			to[32*h+l] = c[l]&3 | c[l+32]&3<<2 | c[l+64]&3<<4 | c[l+96]<<6
		}
	}
}

func unpackPairs(q *[super]uint8, from []byte) {
	for i := range q {
		q[i] = from[i/128*32+i%32] >> (i % 128 / 32 * 2) & 3
	}
}

func (q2k) Encode(dst []byte, x, w []float32) {
	b := affineRuns{run: 16, top: 3, most: 15}
	b.find(x, w)
	for i := range 16 {
		dst[i] = b.sc[i] | b.mn[i]<<4
	}
	q2k{}.place(dst, b.q[:])
	putHalf(dst[80:], b.d)
	putHalf(dst[82:], b.dmin)
}

// readPairs reads the scales and minima of q2_k.
func (b *affineRuns) readPairs(src []byte) {
	b.d, b.dmin = getHalf(src[80:]), getHalf(src[82:])
	for i := range 16 {
		b.sc[i], b.mn[i] = src[i]&15, src[i]>>4
	}
}

func (q2k) Decode(x []float32, src []byte) {
	b := affineRuns{run: 16}
	b.readPairs(src)
	unpackPairs(&b.q, src[16:])
	b.decode(x)
}

// Encode of q3_k: bit i/32 of the mask says that a code is not negative; 6-bit scales lie in 12 bytes, the low halves
// first.
func (q3k) Encode(dst []byte, x, w []float32) {
	b := signedRuns{run: 16, levels: 4, most: 32}
	b.find(x, w)
	clear(dst[96:110])
	q := b.counted()
	q3k{}.place(dst, q[:])
	for i, s := range b.sc {
		u := uint8(s + 32)
		dst[96+i%8] |= u & 15 << (i / 8 * 4)
		dst[104+i%4] |= u >> 4 << (i / 4 * 2)
	}
	putHalf(dst[108:], b.d)
}

// counted are the codes from the lowest on.
func (b *signedRuns) counted() (q [super]uint8) {
	for i, c := range b.q {
		q[i] = uint8(int(c) + b.levels)
	}
	return q
}

// readSixes reads the scales of q3_k.
func (b *signedRuns) readSixes(src []byte) {
	b.d = getHalf(src[108:])
	for i := range b.sc {
		low, high := src[96+i%8]>>(i/8*4)&15, src[104+i%4]>>(i/4*2)&3
		b.sc[i] = int8(low|high<<4) - 32
	}
}

func (q3k) Decode(x []float32, src []byte) {
	b := signedRuns{run: 16}
	b.readSixes(src)
	var q [super]uint8
	unpackPairs(&q, src[32:])
	for i, c := range q {
		b.q[i] = int8(c|src[i%32]>>(i/32)&1<<2) - 4
	}
	b.decode(x)
}

func (q6k) Encode(dst []byte, x, w []float32) {
	b := signedRuns{run: 16, levels: 32, most: 128}
	b.find(x, w)
	q := b.counted()
	q6k{}.place(dst, q[:])
	for i, s := range b.sc {
		dst[192+i] = byte(s)
	}
	putHalf(dst[208:], b.d)
}

func (q6k) Decode(x []float32, src []byte) {
	b := signedRuns{run: 16, d: getHalf(src[208:])}
	for h := range 2 {
		q, low, high := b.q[128*h:], src[64*h:], src[128+32*h:]
		for l := range 32 {
			q[l] = int8(low[l]&15|high[l]&3<<4) - 32
			q[l+32] = int8(low[l+32]&15|high[l]>>2&3<<4) - 32
			q[l+64] = int8(low[l]>>4|high[l]>>4&3<<4) - 32
			q[l+96] = int8(low[l+32]>>4|high[l]>>6<<4) - 32
		}
	}
	for i := range b.sc {
		b.sc[i] = int8(src[192+i])
	}
	b.decode(x)
}

// iq4 is a grid of 16 values that are denser near zero (kvalues_iq4nl of ggml).
var iq4Grid = [16]int8{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}

// iq4Near gives the code of the grid value nearest to a number, by the whole number below its double; all middles
// between neighbours are multiples of a half.
var iq4Near = sync.OnceValue(func() *iq4Codes {
	var t iq4Codes
	for i := range t {
		v := float64(i-256)/2 + 0.25
		for c := range iq4Grid {
			if d, best := v-float64(iq4Grid[c]), v-float64(iq4Grid[t[i]]); d*d < best*best {
				t[i] = uint8(c)
			}
		}
	}
	return &t
})

type iq4Codes [512]uint8

func (t *iq4Codes) code(v float32) uint8 {
	return t[int32(float32(2*max(-128, min(127, v)))+256)&511]
}

// iq4Steps are places on the grid where the extreme element may come to lie.
var iq4Steps = [...]float32{-136, -130, -124, -118, -112, -106, 100, 106, 112, 118, 124}

// iq4Scale finds the scale of a run that explains most.
func iq4Scale(x, w []float32) (d float32) {
	top := extreme(x)
	if top == 0 {
		return 0
	}
	best, near := float32(-1), iq4Near()
	for _, at := range iq4Steps {
		id := at / top
		var qq, qx float32
		for i, v := range x {
			q := float32(iq4Grid[near.code(v*id)])
			wq := q
			if w != nil {
				wq *= w[i]
			}
			qq, qx = qq+wq*q, qx+wq*v
		}
		if e := ratio(qx*qx, qq); e > best {
			d, best = ratio(qx, qq), e
		}
	}
	return d
}

type (
	iq4nl struct{}
	iq4xs struct{}
)

func (iq4nl) Unit() (int, int) { return block, 18 }
func (iq4xs) Unit() (int, int) { return super, 136 }

func iq4Pack(dst []byte, x []float32, d float32) {
	id, near := inverse(d), iq4Near()
	for j := range dst[:block/2] {
		dst[j] = near.code(x[j]*id) | near.code(x[j+block/2]*id)<<4
	}
}

func iq4Unpack(x []float32, src []byte, d float32) {
	for j, c := range src[:block/2] {
		x[j], x[j+block/2] = d*float32(iq4Grid[c&15]), d*float32(iq4Grid[c>>4])
	}
}

func (iq4nl) Encode(dst []byte, x, w []float32) {
	d := stored(iq4Scale(x, w))
	putHalf(dst, d)
	iq4Pack(dst[2:], x, d)
}

func (iq4nl) Decode(x []float32, src []byte) { iq4Unpack(x, src[2:], getHalf(src)) }

// Encode of iq4_xs: eight scales of 6 bits, their low halves in four bytes behind 16 bits of high pairs.
func (iq4xs) Encode(dst []byte, x, w []float32) {
	var ds [8]float32
	var sc [8]int8
	for i := range ds {
		ds[i] = iq4Scale(part(x, i, block), part(w, i, block))
	}
	d := signedUnits(sc[:], ds[:], 32)
	putHalf(dst, d)
	clear(dst[2:8])
	var high uint16
	for i, s := range sc {
		u := uint8(s + 32)
		high |= uint16(u>>4) << (2 * i)
		dst[4+i/2] |= u & 15 << (i % 2 * 4)
		iq4Pack(dst[8+16*i:], part(x, i, block), d*float32(s))
	}
	binary.LittleEndian.PutUint16(dst[2:], high)
}

func (iq4xs) Decode(x []float32, src []byte) {
	d, high := getHalf(src), binary.LittleEndian.Uint16(src[2:])
	for i := range super / block {
		u := src[4+i/2]>>(i%2*4)&15 | uint8(high>>(2*i)&3)<<4
		iq4Unpack(part(x, i, block), src[8+16*i:], d*float32(int8(u)-32))
	}
}
