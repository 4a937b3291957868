package quant

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/memwall/memwall/dtype"
)

func find(t testing.TB, name string) *Format {
	t.Helper()
	f, _ := Find(name)
	if f == nil {
		t.Fatalf("no format %s", name)
	}
	return f
}

// stores gives what comes back of one matrix.
func stores(f *Format, x []float32, cols int64) []float32 {
	c := coderOf(f, surveyOf(x, cols))
	elems, size := c.Unit()
	back := make([]float32, len(x))
	for at := 0; at < len(x); at += elems {
		end := min(at+elems, len(x))
		code := make([]byte, size)
		c.Encode(code, x[at:end], nil)
		c.Decode(back[at:end], code)
	}
	return back
}

// TestWorkedExample: 0.0234375 in a matrix from -1 to 1 has the code 3 in 8 bits, which is 3 · 2/255.
func TestWorkedExample(t *testing.T) {
	x := []float32{-1, 1, 0.0234375, 0}
	for _, name := range []string{"int8-tensor", "int8", "int8-zero-tensor"} {
		back := stores(find(t, name), x, 4)
		if math.Abs(float64(back[2])-3*2.0/255) > 1e-7 || math.Abs(float64(back[2])-0.02352) > 1e-5 {
			t.Errorf("%s: %v, want 0.02352", name, back[2])
		}
		if back[3] != 0 {
			t.Errorf("%s: zero became %v", name, back[3])
		}
	}
	c := coderOf(find(t, "int8"), surveyOf(x, 4))
	code := make([]byte, 8)
	c.Encode(code, x, nil)
	if code[2] != 3 || code[1] != 127 {
		t.Errorf("codes %d", code[:4])
	}
}

// ramp is v(0) … v(n-1).
func ramp(n int, v func(int) float32) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = v(i)
	}
	return x
}

// golden blocks, worked out by hand from the definitions.
var golden = []struct {
	format string
	x      []float32
	code   string // of the first unit
}{
	// The extreme is -8, so d = 1 (f16 3c00); element j has the code x+8. Byte j holds elements j and j+16.
	{"q4_0", ramp(32, func(i int) float32 { return float32(i%16 - 8) }), "003c" + "00112233445566778899aabbccddeeff"},
	// From -1 to 14: d = 1, minimum -1 (bc00).
	{"q4_1", ramp(32, func(i int) float32 { return float32(i/2 - 1) }), "003c00bc" + "80809191a2a2b3b3c4c4d5d5e6e6f7f7"},
	// The extreme is -16: codes x+16, 0 to 31; the fifth bits are those of elements 16 to 31.
	{"q5_0", ramp(32, func(i int) float32 { return float32(i - 16) }), "003c" + "0000ffff" + "00112233445566778899aabbccddeeff"},
	{"q5_1", ramp(32, func(i int) float32 { return float32(i) }), "003c0000" + "0000ffff" + "00112233445566778899aabbccddeeff"},
	// d = 127/127 = 1; 2.5 is rounded away from zero.
	{"q8_0", ramp(32, func(i int) float32 { return []float32{127, -127, 2.5, -2.5}[i%4] }),
		"003c" + "7f8103fd7f8103fd7f8103fd7f8103fd7f8103fd7f8103fd7f8103fd7f8103fd"},
	// Grid values in order: d = 1, codes 0 to 15.
	{"iq4_nl", ramp(32, func(i int) float32 { return float32(iq4Grid[i%16]) }), "003c" + "00112233445566778899aabbccddeeff"},
	// Exponent of 6 is 2, that of the largest e2m1 number 2 as well: the scale is 2^0, byte 127. Codes are sign, 2
	// bits of exponent, 1 of fraction: 0 0.5 1 1.5 2 3 4 6 are 0 to 7. 2.5 and 5 are ties: to 2 and 4, the even codes.
	{"mxfp4", ramp(32, func(i int) float32 { return []float32{0, 0.5, 1, 1.5, 2, 3, 4, 6, -6, -0.5, 2.5, 5, 0, 0, 0, 0}[i%16] }),
		"103254769f640000" + "103254769f640000" + "7f"},
	// The largest is 448 = 1.75·2^8: the scale is 2^0; 448 is 0x7e, 1 is exponent 7: 0x38, -2 is 0xc0.
	{"mxfp8", ramp(32, func(i int) float32 { return []float32{448, 1, -2, 0}[i%4] }),
		"7e38c0007e38c0007e38c0007e38c0007e38c0007e38c0007e38c0007e38c000" + "7f"},
	// Unit 6·448/(6·448) = 1; the first group's scale is 448 (0x7e), the second's 6/6 = 1 (0x38).
	{"nvfp4", ramp(32, func(i int) float32 {
		if i < 16 {
			return []float32{2688, -1344}[i%2]
		}
		return []float32{6, 0.5}[i%2]
	}), "d7d7d7d7d7d7d7d7" + "17171717" + "17171717" + "7e38"},
	// absmax 7.5 gives the scale 1 (bf16 3f80); codes are counted from -8, the first of a byte in its low half. 7.5 is
	// cut to 7, -7.5 goes to the even -8.
	{"int4-g32", ramp(32, func(i int) float32 { return []float32{7.5, -7.5, 0, 1}[i%4] }), "0f980f980f980f980f980f980f980f98" + "803f"},
	// From 0 to 15: the scale is 1 (f16 3c00), the zero point -8, stored as 0.
	{"int4-zero-g32", ramp(32, func(i int) float32 { return float32(i % 16) }), "1032547698badcfe1032547698badcfe" + "003c" + "00"},
	// From 0 to 3: the scale is 1, the zero point -2, stored as 0; the first of four codes of a byte is lowest.
	{"int2-zero-g32", ramp(32, func(i int) float32 { return float32(i % 4) }), "e4e4e4e4e4e4e4e4" + "003c" + "00"},
	{"int8", ramp(4, func(i int) float32 { return []float32{127.5, -127.5, 1, 0}[i] }), "7f800100" + "0000803f"},
	// absmax 127: the code is the number.
	{"llm.int8", ramp(4, func(i int) float32 { return []float32{127, -127, 2.5, 0}[i] }), "7f810200" + "0000fe42"},
	// The row's largest, 448, makes the scale 1 (bf16 3f80).
	{"fp8", ramp(4, func(i int) float32 { return []float32{448, -1, 0.5, 0}[i] }), "7eb83000" + "803f"},
	// The largest e5m2 number is 57344, 0x7b; 1 is 0x3c.
	{"fp8-e5m2", ramp(4, func(i int) float32 { return []float32{57344, -1, 0.5, 0}[i] }), "7bbc3800" + "803f"},
	// absmax 1: 1 is level 15, 0 level 7, -1 level 0; the first of two is in the high half.
	{"nf4-single", ramp(64, func(i int) float32 { return []float32{1, 0, -1, 0.07958029955625534}[i%4] }),
		"f708f708f708f708f708f708f708f708f708f708f708f708f708f708f708f708" + "0000803f"},
	// 12 of 12 is code 3, 0.0625 of 12 code 1; the sign is the highest bit.
	{"fp4-single", ramp(64, func(i int) float32 { return []float32{12, 0.0625, -8, 2}[i%4] }),
		"31a631a631a631a631a631a631a631a631a631a631a631a631a631a631a631a6" + "00004041"},
}

func TestGolden(t *testing.T) {
	for _, g := range golden {
		f := find(t, g.format)
		c := coderOf(f, surveyOf(g.x, int64(len(g.x))))
		elems, size := c.Unit()
		code := make([]byte, size)
		c.Encode(code, g.x[:elems], nil)
		want, err := hex.DecodeString(g.code)
		if err != nil {
			t.Fatalf("%s: %v", g.format, err)
		}
		if !bytes.Equal(code, want) {
			t.Errorf("%s: %x, want %x", g.format, code, want)
		}
	}
}

// TestDoubleQuantisation by hand: of two runs with the magnitudes 1 and 3 the mean is 2, the rest -1 and 1, and the
// unit 1. The code of 1 is the last; the value nearest to -1 is the middle of the last of 64 parts of [0.1, 1].
func TestDoubleQuantisation(t *testing.T) {
	x := make([]float32, 128)
	x[0], x[64] = 1, -3
	c := coderOf(find(t, "nf4"), surveyOf(x, 128))
	_, size := c.Unit()
	code := make([]byte, size)
	c.Encode(code, x, nil)
	if code[0] != 0xf7 || code[32] != 0x07 || code[doubledMax] != 0 || code[doubledMax+1] != 255 {
		t.Errorf("codes %x %x, magnitudes %d", code[:2], code[32:34], code[doubledMax:doubledMax+2])
	}
	back := make([]float32, 128)
	c.Decode(back, code)
	if want := float32(2 - 0.99296875); math.Abs(float64(back[0]-want)) > 1e-6 || back[64] != -3 || back[1] != 0 {
		t.Errorf("%v %v, want %v and -3", back[0], back[64], want)
	}
	if bits := dtype.NF4Double.Bits(); math.Abs(bits-4.127) > 0.001 {
		t.Errorf("%v bits, want 4.127", bits)
	}
}

// TestBytes: the units of every format are as large as its scheme says, which tells what files hold beside the rows.
func TestBytes(t *testing.T) {
	beside := map[string]int64{"fp8-tensor": 8, "int8-tensor": 4, "int8-zero-tensor": 5, "nf4": 1024 + 64 + 4, "fp4": 1024 + 64 + 4,
		"nf4-single": 64, "fp4-single": 64,
		"nvfp4": 8, "int4-g32": 16, "int4-g64": 16, "int4-g128": 16, "int8-g128": 16, "llm.int8": 1}
	const rows, cols = 256, 1024
	for _, f := range unasked() {
		elems, size := coderOf(f, surveyOf(make([]float32, cols), cols)).Unit()
		want := int64(f.Bytes(1, rows, cols)) - beside[f.Name]
		if got := int64(rows*cols) / int64(elems) * int64(size); got != want {
			t.Errorf("%s: %d bytes, the scheme has %d", f.Name, got, want)
		}
	}
}

// slowNearest is the code of the number nearest to x, ties to the even code, found by looking at all of them.
func slowNearest(m *minifloat, x float32) uint32 {
	best, at := math.Inf(1), uint32(0)
	for c := range m.top + 1 {
		d := math.Abs(math.Abs(float64(x)) - float64(m.decode(c)))
		if d < best || d == best && c%2 == 0 {
			best, at = d, c
		}
	}
	if math.Signbit(float64(x)) {
		at |= 1 << m.sign
	}
	return at
}

func TestMinifloats(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for name, m := range map[string]*minifloat{"e4m3": e4m3, "e5m2": e5m2, "e2m1": e2m1} {
		for c := range m.top {
			lo, hi := m.decode(c), m.decode(c+1)
			for _, x := range []float32{lo, (lo + hi) / 2, math.Nextafter32((lo+hi)/2, 0), math.Nextafter32((lo+hi)/2, hi),
				lo + (hi-lo)*r.Float32(), -hi} {
				if got, want := m.encode(x), slowNearest(m, x); got != want {
					t.Fatalf("%s: %v has the code %#x, want %#x", name, x, got, want)
				}
			}
		}
		x := append(heavy(4096, 9), 0, 1e30, -1e30, 448, 464, 465, 1.0/64, 1.0/1024, -1.0/1024, float32(m.of.SmallestSubnormal()))
		dst := make([]byte, len(x))
		for _, d := range []float32{1, 0.001, 1e-6} {
			m.encodeAll(dst, x, d)
			for i, v := range x {
				if want := byte(m.encode(v / d)); dst[i] != want {
					t.Fatalf("%s: %v in steps of %v has the code %#x, want %#x", name, v, d, dst[i], want)
				}
			}
		}
		if got := m.encode(1e30); got != m.top {
			t.Errorf("%s: 1e30 has the code %#x", name, got)
		}
	}
	for x, want := range map[*minifloat]float32{e4m3: 448, e5m2: 57344, e2m1: 6} {
		if got := x.decode(x.top); got != want {
			t.Errorf("largest %v, want %v", got, want)
		}
	}
}

// TestHalf: every f16 comes back as itself, and the middle between two goes to the even one.
func TestHalf(t *testing.T) {
	for h := range uint16(0x7c00) {
		x := ofHalf(h)
		if toHalf(x) != h || toHalf(-x) != h|0x8000 {
			t.Fatalf("%#04x is %v and goes to %#04x", h, x, toHalf(x))
		}
		if h == 0x7bff {
			break
		}
		if m := (x + ofHalf(h+1)) / 2; toHalf(m) != h+h&1 {
			t.Fatalf("the middle %v goes to %#04x", m, toHalf(m))
		}
	}
	if ofHalf(0x3c00) != 1 || ofHalf(1) != 0x1p-24 || ofHalf(0x7bff) != 65504 || !math.IsInf(float64(ofHalf(0xfc00)), -1) ||
		ofHalf(0x7e00) == ofHalf(0x7e00) || toHalf(1e6) != 0x7c00 {
		t.Error("f16 is read or written wrongly")
	}
	if toBrain(1) != 0x3f80 || toBrain(1.00390625) != 0x3f80 || toBrain(1.01171875) != 0x3f82 {
		t.Error("bf16 is not rounded to even")
	}
}

func TestRounding(t *testing.T) {
	for _, c := range []struct {
		x          float32
		even, away int32
	}{{2.5, 2, 3}, {-2.5, -2, -3}, {0.49999997, 0, 0}, {3.5, 4, 4}, {-0.5, 0, -1}, {1e5, 1e5, 1e5}} {
		if nearest(c.x) != c.even || awayFromZero(c.x) != c.away {
			t.Errorf("%v: %d and %d", c.x, nearest(c.x), awayFromZero(c.x))
		}
	}
}

// TestAwayFromZero: around every tie up to 2^17, and between, it is what math.Round gives.
func TestAwayFromZero(t *testing.T) {
	for i := range 1 << 17 {
		tie := float32(i) + 0.5
		for _, x := range []float32{tie, math.Nextafter32(tie, 0), math.Nextafter32(tie, 1e9), float32(i), tie - 0.25} {
			if want := int32(math.Round(float64(x))); awayFromZero(x) != want || awayFromZero(-x) != -want {
				t.Fatalf("%v goes to %d and %d, want %d", x, awayFromZero(x), awayFromZero(-x), want)
			}
		}
	}
}

// TestLevels: the table finds what looking at all levels finds.
func TestLevels(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for name, l := range map[string]*levels{"nf4": nf4Levels(), "fp4": fp4Levels(), "dynamic": dynamicLevels()} {
		for range 100_000 {
			v := float32(r.NormFloat64() / 3)
			best := math.Inf(1)
			for _, u := range l.values {
				best = min(best, math.Abs(float64(v)-float64(u)))
			}
			if got := math.Abs(float64(v) - float64(l.byCode[l.code(v)])); got > best+1e-7 {
				t.Fatalf("%s: %v goes to %v, %v away instead of %v", name, v, l.byCode[l.code(v)], got, best)
			}
		}
	}
	if n := len(dynamicLevels().values); n != 256 {
		t.Errorf("the dynamic type has %d values", n)
	}
	for v := -130.0; v < 130; v += 0.0625 {
		got, best := math.Abs(v-float64(iq4Grid[iq4Near().code(float32(v))])), math.Inf(1)
		for _, g := range iq4Grid {
			best = min(best, math.Abs(v-float64(g)))
		}
		if got != best {
			t.Fatalf("iq4: %v goes %v away, the nearest is %v away", v, got, best)
		}
	}
}

// Slow twins of the decoders of K-quants: one element at a time, bit by bit from the layout.

func bitsAt(b []byte, at, n int) int { return int(b[at/8]) >> (at % 8) & (1<<n - 1) }

func halfAt(b []byte, at int) float64 {
	return float64(ofHalf(binary.LittleEndian.Uint16(b[at:])))
}

// six is the j-th of 8 scales (first 0) or minima (first 4) of q4_k and q5_k.
func six(b []byte, j, first int) int {
	if j < 4 {
		return bitsAt(b, 8*(j+first), 6)
	}
	return bitsAt(b, 8*(j+4)+first, 4) | bitsAt(b, 8*(j-4+first)+6, 2)<<4
}

var slowElement = map[string]func(b []byte, i int) float64{
	"q4_k": func(b []byte, i int) float64 {
		j := i / 32
		q := bitsAt(b, 8*(16+i/64*32+i%32)+i%64/32*4, 4)
		return halfAt(b, 0)*float64(six(b[4:], j, 0)*q) - halfAt(b, 2)*float64(six(b[4:], j, 4))
	},
	"q5_k": func(b []byte, i int) float64 {
		j := i / 32
		q := bitsAt(b, 8*(48+i/64*32+i%32)+i%64/32*4, 4) | bitsAt(b, 8*(16+i%32)+j, 1)<<4
		return halfAt(b, 0)*float64(six(b[4:], j, 0)*q) - halfAt(b, 2)*float64(six(b[4:], j, 4))
	},
	"q2_k": func(b []byte, i int) float64 {
		q := bitsAt(b, 8*(16+i/128*32+i%32)+i%128/32*2, 2)
		return halfAt(b, 80)*float64(bitsAt(b, 8*(i/16), 4)*q) - halfAt(b, 82)*float64(bitsAt(b, 8*(i/16)+4, 4))
	},
	"q3_k": func(b []byte, i int) float64 {
		q := bitsAt(b, 8*(32+i/128*32+i%32)+i%128/32*2, 2) + 4*bitsAt(b, 8*(i%32)+i/32, 1) - 4
		s := i / 16
		sc := bitsAt(b, 8*(96+s%8)+s/8*4, 4) | bitsAt(b, 8*(104+s%4)+s/4*2, 2)<<4
		return halfAt(b, 108) * float64((sc-32)*q)
	},
	"q6_k": func(b []byte, i int) float64 {
		h, l := i/128, i%128
		q := bitsAt(b, 8*(64*h+l%64)+l/64*4, 4) | bitsAt(b, 8*(128+32*h+l%32)+l/32*2, 2)<<4
		return halfAt(b, 208) * float64(int(int8(b[192+i/16]))*(q-32))
	},
	"iq4_xs": func(b []byte, i int) float64 {
		s := i / 32
		sc := bitsAt(b, 32+4*s, 4) | bitsAt(b, 16+2*s, 2)<<4
		return halfAt(b, 0) * float64((sc-32)*int(iq4Grid[bitsAt(b, 8*(8+16*s+i%16)+i%32/16*4, 4)]))
	},
}

// TestSlowTwins: any bytes are read as the layout says, and what was encoded comes back as the codes say.
func TestSlowTwins(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for name, slow := range slowElement {
		c := coderOf(find(t, name), nil)
		_, size := c.Unit()
		b := make([]byte, size)
		for range 200 {
			for i := range b {
				b[i] = byte(r.Uint32())
			}
			for _, at := range map[string][]int{"q4_k": {1, 3}, "q5_k": {1, 3}, "q2_k": {81, 83}, "q3_k": {109}, "q6_k": {209},
				"iq4_xs": {1}}[name] {
				b[at] &= 0x3f // scales that are numbers
			}
			var x [super]float32
			c.Decode(x[:], b)
			for i, v := range x {
				if want := slow(b, i); math.Abs(float64(v)-want) > 1e-5*(math.Abs(want)+100) {
					t.Fatalf("%s: element %d of %x is %v, want %v", name, i, b, v, want)
				}
			}
		}
	}
}

// TestOddMatrices: zeros stay zeros, constants and tiny, huge and lonely numbers come back as numbers near them.
func TestOddMatrices(t *testing.T) {
	lonely := make([]float32, 512)
	lonely[300] = -3
	for _, f := range unasked() {
		for name, x := range map[string][]float32{
			"zeros": make([]float32, 512), "lonely": lonely,
			"ones":    ramp(512, func(int) float32 { return 1 }),
			"minus":   ramp(512, func(int) float32 { return -0.75 }),
			"tiny":    ramp(512, func(i int) float32 { return float32(i%3-1) * 0x1p-140 }),
			"denorms": ramp(512, func(i int) float32 { return float32(i%7-3) * 0x1p-149 }),
		} {
			var noise, signal float64
			for i, q := range stores(f, x, 256) {
				d := float64(x[i]) - float64(q)
				if math.IsNaN(d) || math.IsInf(d, 0) {
					t.Fatalf("%s of %s: %v became %v", f.Name, name, x[i], q)
				}
				noise, signal = noise+d*d, signal+float64(x[i])*float64(x[i])
				if name == "zeros" && q != 0 {
					t.Fatalf("%s: 0 became %v", f.Name, q)
				}
			}
			if name != "zeros" && name[0] != 't' && name[0] != 'd' && math.Sqrt(noise/signal) > 0.35 {
				t.Errorf("%s of %s: relative error %.3f", f.Name, name, math.Sqrt(noise/signal))
			}
		}
	}
}

// TestTails: rows and matrices that end inside a group or a run.
func TestTails(t *testing.T) {
	for _, f := range unasked() {
		if f.Family == GGUF {
			if f.Fits(100) {
				t.Errorf("%s says that it stores rows of 100", f.Name)
			}
			continue
		}
		x := normal(7*100, 5)
		tr := tried(f, surveyOf(x, 100), x)
		if e := tr.Error.RMS(); e > 0.2 && f.Scheme.Elem != dtype.I2 || e > 0.45 || tr.Error.Elements != 700 {
			t.Errorf("%s: error %.3f of %d elements", f.Name, e, tr.Error.Elements)
		}
	}
}

// TestOrder: what published comparisons say of formats of one size holds on normal and on heavy-tailed weights.
func TestOrder(t *testing.T) {
	for name, x := range map[string][]float32{"normal": normal(1<<18, 1), "heavy": heavy(1<<18, 2)} {
		e := map[string]float64{}
		for _, f := range unasked() {
			tr := tried(f, surveyOf(x, 1024), x)
			e[f.Name] = tr.Error.RMS()
		}
		for _, pair := range [][2]string{{"nf4", "int4-g64"}, {"nf4-single", "fp4-single"}, {"q4_k", "q4_0"}, {"q5_k", "q5_0"},
			{"q6_k", "q5_k"}, {"q8_0", "q6_k"}, {"q3_k", "q2_k"}, {"iq4_xs", "q4_0"},
			{"iq4_nl", "q4_0"}, {"fp8", "fp8-e5m2"}, {"nvfp4", "mxfp4"}, {"int8-g128", "int8"}, {"int8", "int8-tensor"},
			{"int4-g32", "int4-g128"}, {"int4-zero-g128", "int4-g128"}, {"int8-zero", "int8"}} {
			if e[pair[0]] >= e[pair[1]] {
				t.Errorf("%s: %s has the error %.4f, %s %.4f", name, pair[0], e[pair[0]], pair[1], e[pair[1]])
			}
		}
	}
}

// TestSizes: 8 bits are half of 16 and 4 a quarter, on the shape of a real matrix.
func TestSizes(t *testing.T) {
	bf16 := float64(dtype.Of(dtype.BF16).Bytes(1, 4096, 14336))
	for name, want := range map[string]float64{"int8": 2, "fp8": 2, "int4-g128": 4, "nf4": 4} {
		if got := bf16 / float64(find(t, name).Bytes(1, 4096, 14336)); math.Abs(got/want-1) > 0.05 {
			t.Errorf("%s is %.2f times smaller, want %v", name, got, want)
		}
	}
}

// TestImportance: with importance the weighted error falls against rounding that knows nothing of it.
func TestImportance(t *testing.T) {
	x := normal(1<<17, 3)
	w := heavy(1024, 4)
	for i := range w {
		w[i] = w[i]*w[i]*2500 + 0.01
	}
	for _, f := range unasked() {
		s := surveyOf(x, 1024)
		s.Inputs = &Inputs{Columns: w}
		with := tried(f, s, x)
		blind := Error{}
		for i, back := 0, stores(f, x, 1024); i < len(x); i += 1024 {
			blind.add(x[i:i+1024], back[i:i+1024], w)
		}
		if with.Error.WeightedNoise > blind.WeightedNoise*1.0001 {
			t.Errorf("%s: weighted error %.5f with importance, %.5f without", f.Name, with.Error.WeightedRMS(), blind.WeightedRMS())
		}
	}
}

// TestRealShapes: on the matrices of a layer of Llama 3.1 8B int8 takes half and int4 a quarter of bf16, scales included, and
// nf4 costs normal weights less than int4 of as many bytes.
func TestRealShapes(t *testing.T) {
	shapes := [][2]int64{{4096, 4096}, {1024, 4096}, {1024, 4096}, {4096, 4096}, {14336, 4096}, {14336, 4096}, {4096, 14336}}
	smaller := func(name string) float64 {
		var bytes, stored float64
		for _, s := range shapes {
			bytes += float64(find(t, name).Bytes(1, s[0], s[1]))
			stored += 2 * float64(s[0]*s[1])
		}
		return stored / bytes
	}
	for name, want := range map[string]float64{"int8": 2.00, "fp8": 2.00, "int8-zero-g128": 1.925, "int4-g128": 3.878,
		"int4-zero-g128": 3.848, "nf4": 3.877, "nvfp4": 3.556, "q8_0": 1.882, "q4_0": 3.556, "q4_k": 3.556} {
		if got := smaller(name); math.Abs(got-want) > 0.002 {
			t.Errorf("%s is %.4f times as small as bf16, want %.3f", name, got, want)
		}
	}
	for _, cols := range []int64{4096, 14336} { // of each, some rows
		x := normal(int(16*cols), uint64(cols))
		e := map[string]float64{}
		for _, name := range []string{"nf4", "int4-g64", "int4-g128", "int8"} {
			e[name] = tried(find(t, name), surveyOf(x, cols), x).Error.RMS()
		}
		if e["nf4"] > 0.95*e["int4-g64"] || e["nf4"] > 0.9*e["int4-g128"] || e["int8"] > e["nf4"]/5 {
			t.Errorf("%d columns: %v", cols, e)
		}
	}
}
