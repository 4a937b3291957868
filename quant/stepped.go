package quant

// stepped formats decode the elements of a run as low + q·step, with q from 0 to top: given the stored scales, codes
// may be chosen individually.
type stepped interface {
	Coder
	// runs returns the elements of a unit that share a step, and the largest code.
	runs() (elems, top int)
	// steps reads the step and the lowest value of each run of a unit.
	steps(src []byte, step, low []float32)
	// place stores the codes of a unit, keeping its scales.
	place(dst []byte, q []uint8)
}

func (q4zero) runs() (int, int) { return block, 15 }
func (q4one) runs() (int, int)  { return block, 15 }
func (q5zero) runs() (int, int) { return block, 31 }
func (q5one) runs() (int, int)  { return block, 31 }
func (q8zero) runs() (int, int) { return block, 255 }
func (q2k) runs() (int, int)    { return 16, 3 }
func (q3k) runs() (int, int)    { return 16, 7 }
func (q4k) runs() (int, int)    { return 32, 15 }
func (q5k) runs() (int, int)    { return 32, 31 }
func (q6k) runs() (int, int)    { return 16, 63 }

func (q4zero) steps(src []byte, step, low []float32) { step[0], low[0] = getHalf(src), -8*getHalf(src) }
func (q4one) steps(src []byte, step, low []float32)  { step[0], low[0] = getHalf(src), getHalf(src[2:]) }
func (q5zero) steps(src []byte, step, low []float32) {
	step[0], low[0] = getHalf(src), -16*getHalf(src)
}
func (q5one) steps(src []byte, step, low []float32) { step[0], low[0] = getHalf(src), getHalf(src[2:]) }
func (q8zero) steps(src []byte, step, low []float32) {
	step[0], low[0] = getHalf(src), -128*getHalf(src)
}

func (q4zero) place(dst []byte, q []uint8) { packNibbles(dst[2:], (*[block]uint8)(q)) }
func (q4one) place(dst []byte, q []uint8)  { packNibbles(dst[4:], (*[block]uint8)(q)) }

func (q5zero) place(dst []byte, q []uint8) {
	packFifth(dst[2:], (*[block]uint8)(q))
	packNibbles(dst[6:], (*[block]uint8)(q))
}

func (q5one) place(dst []byte, q []uint8) {
	packFifth(dst[4:], (*[block]uint8)(q))
	packNibbles(dst[8:], (*[block]uint8)(q))
}

func (q8zero) place(dst []byte, q []uint8) {
	for i, c := range q {
		dst[2+i] = c - 128
	}
}

// read gives the steps of runs with minima.
func (b *affineRuns) read(step, low []float32) {
	for i := range step {
		step[i], low[i] = b.d*float32(b.sc[i]), -(b.dmin * float32(b.mn[i]))
	}
}

// read gives the steps of runs with signed scales. A negative step counts downwards, which is as good.
func (b *signedRuns) read(step, low []float32, levels float32) {
	for i := range step {
		step[i] = b.d * float32(b.sc[i])
		low[i] = -levels * step[i]
	}
}

func (q2k) steps(src []byte, step, low []float32) {
	var b affineRuns
	b.readPairs(src)
	b.read(step, low)
}

func (q4k) steps(src []byte, step, low []float32) {
	var b affineRuns
	b.readHead(src)
	b.read(step, low)
}

func (q5k) steps(src []byte, step, low []float32) { q4k{}.steps(src, step, low) }

func (q3k) steps(src []byte, step, low []float32) {
	var b signedRuns
	b.readSixes(src)
	b.read(step, low, 4)
}

func (q6k) steps(src []byte, step, low []float32) {
	b := signedRuns{d: getHalf(src[208:])}
	for i := range b.sc {
		b.sc[i] = int8(src[192+i])
	}
	b.read(step, low, 32)
}

func (q2k) place(dst []byte, q []uint8) { packPairs(dst[16:], (*[super]uint8)(q)) }
func (q4k) place(dst []byte, q []uint8) { packHalves(dst[16:], (*[super]uint8)(q)) }

func (q5k) place(dst []byte, q []uint8) {
	high := dst[16:48]
	clear(high)
	for i, c := range q {
		high[i%32] |= c >> 4 << (i / 32)
	}
	packHalves(dst[48:], (*[super]uint8)(q))
}

func (q3k) place(dst []byte, q []uint8) {
	clear(dst[:32])
	for i, c := range q {
		dst[i%32] |= c >> 2 << (i / 32)
	}
	packPairs(dst[32:], (*[super]uint8)(q))
}

func (q6k) place(dst []byte, codes []uint8) {
	for h := range 2 {
		q, low, high := codes[128*h:], dst[64*h:], dst[128+32*h:]
		for l := range 32 {
			q0, q1, q2, q3 := q[l], q[l+32], q[l+64], q[l+96]
			low[l], low[l+32] = q0&15|q2<<4, q1&15|q3<<4
			high[l] = q0>>4 | q1>>4<<2 | q2>>4<<4 | q3>>4<<6
		}
	}
}

func (c *integers) runs() (int, int) { return c.group, 1<<c.bits - 1 }

func (c *integers) steps(src []byte, step, low []float32) {
	for g := range step {
		d, z := c.d, c.z
		if !c.fixed {
			d, z = c.scale.get(src[c.codeBytes()+g*c.scale.bytes:]), 0
			if c.zero {
				z = c.code(src[c.zerosAt():], g)
			}
		}
		step[g], low[g] = d, float32(c.low()-z)*d
	}
}

func (c *integers) place(dst []byte, q []uint8) {
	for i, u := range q {
		c.putCode(dst, i, int32(u)+c.low())
	}
}
