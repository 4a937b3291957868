package quant

import (
	"math"
	"slices"
	"sync"

	"github.com/memwall/memwall/internal/stable"
)

// The 4-bit formats of bitsandbytes run through a matrix without regard to its rows: 64 elements share the largest
// magnitude, and each is the nearest of 16 levels of it. With double quantisation the magnitudes, less their mean over
// the matrix, are 8-bit codes themselves, with one f32 per 256 of them (arXiv:2305.14314; bitsandbytes/functional.py).

const doubleRun = flatRun * 256

// levels are up to 256 values of a code, with a table that finds the nearest: cells so narrow that a cell holds at
// most one middle between neighbours.
type levels struct {
	values  []float32 // ascending
	codes   []uint8   // of the values in this order
	middles []float32
	cells   [4097]uint8
	byCode  [256]float32
}

func newLevels(byCode []float32) *levels {
	l := &levels{}
	order := make([]int, len(byCode))
	for i := range order {
		order[i] = i
		l.byCode[i] = byCode[i]
	}
	stable.Sort(order, func(a, b int) int {
		switch {
		case byCode[a] < byCode[b]:
			return -1
		case byCode[a] > byCode[b]:
			return 1
		}
		return 0
	})
	for _, c := range order {
		l.values, l.codes = append(l.values, byCode[c]), append(l.codes, uint8(c))
	}
	for i := range l.values[1:] {
		l.middles = append(l.middles, float32((float64(l.values[i])+float64(l.values[i+1]))/2))
	}
	l.middles = append(l.middles, float32(math.Inf(1)))
	c := uint8(0)
	for i := range l.cells {
		at := float32(i)/2048 - 1
		for at > l.middles[c] { // the last is infinite
			c++
		}
		l.cells[i] = c
	}
	return l
}

// code of the value nearest to v, from -1 to 1; of two that are as near, the smaller.
func (l *levels) code(v float32) uint8 {
	v = max(-1, min(1, v))
	c := l.cells[int32((v+1)*2048)&4095]
	for v > l.middles[c] {
		c++
	}
	for c > 0 && v <= l.middles[c-1] {
		c--
	}
	return l.codes[c]
}

// nf4Levels: quantiles of the normal distribution (QLoRA, appendix E), 0 among them.
var nf4Levels = sync.OnceValue(func() *levels {
	return newLevels([]float32{
		-1, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
		-0.09105003625154495, 0,
		0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941,
		0.7229568362236023, 1,
	})
})

// fp4Levels: a sign and the magnitudes of the eight codes, of which the largest is 12.
var fp4Levels = sync.OnceValue(func() *levels {
	var v []float32
	for _, sign := range []float32{1, -1} {
		for _, m := range []float32{0, 0.0625, 8, 12, 4, 6, 2, 3} {
			v = append(v, sign*m/12)
		}
	}
	return newLevels(v)
})

// dynamicLevels: the 8-bit dynamic type (arXiv:1511.04561). In each of seven decades up to 1, one bit more of
// fraction than in the decade below: the middles of 2^i equal parts of its upper nine tenths, of both signs; and 0
// and 1.
var dynamicLevels = sync.OnceValue(func() *levels {
	v := []float32{0, 1}
	for i := range 7 {
		n := 1 << i
		for k := range n {
			m := float32(math.Pow10(i-6) * (0.1 + 0.9*(float64(k)+0.5)/float64(n)))
			v = append(v, m, -m)
		}
	}
	slices.Sort(v) // codes count upwards
	return newLevels(v)
})

// flat is nf4 or fp4 with an f32 magnitude per 64 elements.
type flat struct{ of *levels }

func (flat) Unit() (int, int) { return flatRun, flatRun/2 + 4 }

func (c flat) Encode(dst []byte, x, _ []float32) {
	top := largest(x)
	scaleF32.put(dst[flatRun/2:], top)
	c.of.pack(dst, x, top)
}

// pack puts the first of two codes into the high half of a byte.
func (l *levels) pack(dst []byte, x []float32, top float32) {
	id := inverse(top)
	for i, v := range x {
		q := l.code(v * id)
		if i%2 == 0 {
			dst[i/2] = q << 4
		} else {
			dst[i/2] |= q
		}
	}
}

func (l *levels) unpack(x []float32, src []byte, top float32) {
	for i := range x {
		x[i] = l.byCode[src[i/2]>>(4-i%2*4)&15] * top
	}
}

func (c flat) Decode(x []float32, src []byte) { c.of.unpack(x, src, scaleF32.get(src[flatRun/2:])) }

// doubled is flat with 8-bit magnitudes: a unit is 256 runs of 64, their codes, their magnitudes, and the f32 of these.
type doubled struct {
	of     *levels
	offset float32
}

const (
	doubledMax  = doubleRun / 2
	doubledUnit = doubledMax + doubleRun/flatRun
)

func (*doubled) Unit() (int, int) { return doubleRun, doubledUnit + 4 }

func (c *doubled) Encode(dst []byte, x, _ []float32) {
	var tops [doubleRun / flatRun]float32
	runs := (len(x) + flatRun - 1) / flatRun
	for i := range runs {
		run := x[i*flatRun : min((i+1)*flatRun, len(x))]
		tops[i] = largest(run)
		c.of.pack(dst[i*flatRun/2:], run, tops[i])
		tops[i] -= c.offset
	}
	most := largest(tops[:runs])
	id, steps := inverse(most), dynamicLevels()
	for i, t := range tops[:runs] {
		dst[doubledMax+i] = steps.code(t * id)
	}
	scaleF32.put(dst[doubledUnit:], most)
}

func (c *doubled) Decode(x []float32, src []byte) {
	most, steps := scaleF32.get(src[doubledUnit:]), dynamicLevels()
	for i := 0; i*flatRun < len(x); i++ {
		top := steps.byCode[src[doubledMax+i]]*most + c.offset
		c.of.unpack(x[i*flatRun:min((i+1)*flatRun, len(x))], src[i*flatRun/2:], top)
	}
}
