package gguf_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/format/gguf"
	"github.com/memwall/memwall/format/gguf/gguftest"
)

// slow is the obvious reader of a right file: it holds all bytes and all values and checks nothing.
type slow struct {
	b     []byte
	order binary.ByteOrder
	wide  bool
}

func (s *slow) next(n int) []byte {
	out := s.b[:n]
	s.b = s.b[n:]
	return out
}

func (s *slow) u32() uint32 { return s.order.Uint32(s.next(4)) }
func (s *slow) u64() uint64 { return s.order.Uint64(s.next(8)) }

func (s *slow) count() int {
	if s.wide {
		return int(s.u64())
	}
	return int(s.u32())
}

func (s *slow) text() string { return string(s.next(s.count())) }

func (s *slow) value(kind uint32) any {
	switch kind {
	case 0:
		return uint64(s.next(1)[0])
	case 1:
		return int64(int8(s.next(1)[0]))
	case 2:
		return uint64(s.order.Uint16(s.next(2)))
	case 3:
		return int64(int16(s.order.Uint16(s.next(2))))
	case 4:
		return uint64(s.u32())
	case 5:
		return int64(int32(s.u32()))
	case 6:
		return float64(math.Float32frombits(s.u32()))
	case 7:
		return s.next(1)[0] != 0
	case 8:
		return s.text()
	case 9:
		return s.values()
	case 10:
		return s.u64()
	case 11:
		return int64(s.u64())
	}
	return math.Float64frombits(s.u64())
}

func (s *slow) values() []any {
	kind, out := s.u32(), []any{}
	for range s.count() {
		out = append(out, s.value(kind))
	}
	return out
}

type slowFile struct {
	keys    []string
	values  map[string]any
	tensors []gguftest.Info
	rest    int
}

func readSlowly(b []byte) slowFile {
	s := &slow{b: b[8:], order: binary.LittleEndian}
	version := binary.LittleEndian.Uint32(b[4:])
	if version > 3 {
		s.order = binary.BigEndian
		version = binary.BigEndian.Uint32(b[4:])
	}
	s.wide = version > 1
	tensors, pairs := s.count(), s.count()
	f := slowFile{values: map[string]any{}}
	for range pairs {
		key := s.text()
		f.keys = append(f.keys, key)
		f.values[key] = s.value(s.u32())
	}
	for range tensors {
		f.tensors = append(f.tensors, s.info())
	}
	f.rest = len(s.b)
	return f
}

func (s *slow) info() gguftest.Info {
	t := gguftest.Info{Name: s.text()}
	for range s.u32() {
		t.Dims = append(t.Dims, uint64(s.count()))
	}
	t.Type, t.Offset = s.u32(), s.u64()
	return t
}

// TestTwin compares the reader with the slow one on random files in every encoding.
func TestTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		b := random(rng)
		e := encodings[i%len(encodings)]
		b.Version, b.BigEndian = e.version, e.big
		compare(t, readSlowly(b.Infos()), read(t, b))
	}
}

func random(rng *rand.Rand) *gguftest.Builder {
	b := gguftest.New("llama")
	for i := range rng.IntN(40) {
		b.Set(fmt.Sprintf("key.%d", i), randomValue(rng))
	}
	for i := range rng.IntN(40) {
		f := dtype.GGML[rng.IntN(len(dtype.GGML))]
		dims := []int64{f.BlockElems * (1 + rng.Int64N(5))}
		for range rng.IntN(4) {
			dims = append(dims, 1+rng.Int64N(9))
		}
		b.Tensor(fmt.Sprintf("blk.%d.weight", i), f, dims...)
	}
	return b
}

func randomValue(rng *rand.Rand) gguftest.Value {
	n := rng.Uint64()
	switch rng.IntN(16) {
	case 0:
		return gguftest.U8(n)
	case 1:
		return gguftest.I8(n)
	case 2:
		return gguftest.U16(n)
	case 3:
		return gguftest.I16(n)
	case 4:
		return gguftest.U32(n)
	case 5:
		return gguftest.I32(n)
	case 6:
		return gguftest.F32(rng.Float32())
	case 7:
		return gguftest.Bool(n%2 == 0)
	case 8:
		return gguftest.U64(n)
	case 9:
		return gguftest.I64(n)
	case 10:
		return gguftest.F64(rng.NormFloat64())
	case 11:
		return randomArray(rng, func() gguftest.Str { return randomText(rng) })
	case 12:
		return randomArray(rng, func() gguftest.I32 { return gguftest.I32(rng.Uint32()) })
	case 13:
		return randomArray(rng, func() gguftest.F64 { return gguftest.F64(rng.NormFloat64()) })
	case 14:
		return randomArray(rng, func() gguftest.Bool { return rng.IntN(2) == 0 })
	}
	return randomText(rng)
}

// randomText is now and then longer than the reader's window, so that strings straddle its edge.
func randomText(rng *rand.Rand) gguftest.Str {
	n := rng.IntN(40)
	if rng.IntN(100) == 0 {
		n = rng.IntN(600 << 10)
	}
	return gguftest.Str(strings.Repeat("x", n))
}

func randomArray[T gguftest.Value](rng *rand.Rand, one func() T) gguftest.Array[T] {
	a := make(gguftest.Array[T], rng.IntN(50))
	for i := range a {
		a[i] = one()
	}
	return a
}

func compare(t *testing.T, want slowFile, f *gguf.File) {
	t.Helper()
	if !reflect.DeepEqual(f.Keys(), want.keys) || len(f.Tensors) != len(want.tensors) || want.rest != 0 {
		t.Fatalf("keys %v, want %v; %d tensors, want %d", f.Keys(), want.keys, len(f.Tensors), len(want.tensors))
	}
	for key, w := range want.values {
		if got := valueOf(f, key, w); !reflect.DeepEqual(got, w) {
			t.Errorf("%s: %v, want %v", key, got, w)
		}
	}
	for i, w := range want.tensors {
		x := f.Tensors[i]
		if x.Name != w.Name || x.Type != w.Type || uint64(x.Offset) != w.Offset || fmt.Sprint(x.Dims) != fmt.Sprint(w.Dims) {
			t.Errorf("%+v, want %+v", x, w)
		}
	}
}

// valueOf asks the accessor that fits the wanted value; for what is not kept it compares lengths and gives
// the wanted value back.
func valueOf(f *gguf.File, key string, want any) any {
	switch w := want.(type) {
	case uint64:
		v, _ := f.Uint(key)
		return v
	case int64:
		v, _ := f.Int(key)
		return v
	case float64:
		v, _ := f.Float(key)
		return v
	case bool:
		v, _ := f.Bool(key)
		return v
	case string:
		if n, _ := f.StringLen(key); n == int64(len(w)) && n > 64<<10 {
			return want
		}
		v, _ := f.String(key)
		return v
	case []any:
		return arrayOf(f, key, w)
	}
	return nil
}

func arrayOf(f *gguf.File, key string, want []any) any {
	if n, ok := f.ArrayLen(key); !ok || n != int64(len(want)) {
		return n
	}
	switch f.Type(key) {
	case "[]string":
		return want
	case "[]i32":
		v, _ := f.Ints(key)
		return anys(v)
	case "[]f64":
		v, _ := f.Floats(key)
		return anys(v)
	}
	v, _ := f.Bools(key)
	return anys(v)
}

func anys[T any](v []T) []any {
	out := []any{}
	for _, x := range v {
		out = append(out, x)
	}
	return out
}
