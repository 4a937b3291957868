package gguf_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/format/gguf"
	"github.com/memwall/memwall/format/gguf/gguftest"
)

// encodings are all ways to write a GGUF file. Big-endian files exist since version 3; older versions are
// read in both orders because nothing forbids it.
var encodings = []struct {
	version uint32
	big     bool
}{{1, false}, {2, false}, {3, false}, {1, true}, {2, true}, {3, true}}

func eachEncoding(t *testing.T, build func() *gguftest.Builder, check func(*testing.T, *gguftest.Builder)) {
	for _, e := range encodings {
		t.Run(fmt.Sprintf("v%d,big=%v", e.version, e.big), func(t *testing.T) {
			b := build()
			b.Version, b.BigEndian = e.version, e.big
			check(t, b)
		})
	}
}

func read(t *testing.T, b *gguftest.Builder) *gguf.File {
	t.Helper()
	s := b.File()
	f, err := gguf.Read(s, s.Len)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func everyType() *gguftest.Builder {
	return gguftest.New("llama").
		Set("u8", gguftest.U8(200)).Set("i8", gguftest.I8(-100)).
		Set("u16", gguftest.U16(60000)).Set("i16", gguftest.I16(-30000)).
		Set("u32", gguftest.U32(4e9)).Set("i32", gguftest.I32(-2e9)).
		Set("u64", gguftest.U64(math.MaxUint64)).Set("i64", gguftest.I64(math.MinInt64)).
		Set("f32", gguftest.F32(0.5)).Set("f64", gguftest.F64(-1e300)).
		Set("yes", gguftest.Bool(true)).Set("no", gguftest.Bool(false)).
		Set("text", gguftest.Str("häß\x00lich")).Set("none", gguftest.Str("")).
		Set("words", gguftest.Array[gguftest.Str]{"a", "", "ccc"}).
		Set("ints", gguftest.Array[gguftest.I16]{-1, 0, 300}).
		Set("big", gguftest.Array[gguftest.U64]{1, math.MaxUint64}).
		Set("floats", gguftest.Array[gguftest.F32]{1.5, -2}).
		Set("bools", gguftest.Array[gguftest.Bool]{true, false, true}).
		Set("empty", gguftest.Array[gguftest.U32]{})
}

func TestNumbers(t *testing.T) {
	type answer struct {
		u  uint64
		uk bool
		i  int64
		ik bool
	}
	want := map[string]answer{
		"u8": {200, true, 200, true}, "i8": {0, false, -100, true},
		"u16": {60000, true, 60000, true}, "i16": {0, false, -30000, true},
		"u32": {4e9, true, 4e9, true}, "i32": {0, false, -2e9, true},
		"u64": {math.MaxUint64, true, 0, false}, "i64": {0, false, math.MinInt64, true},
		// Integers are neither floats nor bools nor texts nor arrays, nor are they made up.
		"f32": {}, "yes": {}, "text": {}, "ints": {}, "missing": {},
	}
	eachEncoding(t, everyType, func(t *testing.T, b *gguftest.Builder) {
		f := read(t, b)
		for key, w := range want {
			u, uk := f.Uint(key)
			i, ik := f.Int(key)
			if got := (answer{u, uk, i, ik}); got != w {
				t.Errorf("%s: %v, want %v", key, got, w)
			}
		}
	})
}

func TestTextsFloatsAndBools(t *testing.T) {
	eachEncoding(t, everyType, func(t *testing.T, b *gguftest.Builder) {
		f := read(t, b)
		checkValue(t, f.Float, "f32", 0.5, true)
		checkValue(t, f.Float, "f64", -1e300, true)
		checkValue(t, f.Float, "u8", 0, false)
		checkValue(t, f.Bool, "yes", true, true)
		checkValue(t, f.Bool, "no", false, true)
		checkValue(t, f.Bool, "u8", false, false)
		checkValue(t, f.String, "text", "häß\x00lich", true)
		checkValue(t, f.String, "none", "", true)
		checkValue(t, f.String, "words", "", false)
		checkValue(t, f.StringLen, "text", 10, true)
		checkValue(t, f.StringLen, "words", 0, false)
		checkValue(t, f.ArrayLen, "words", 3, true)
		checkValue(t, f.ArrayLen, "empty", 0, true)
		checkValue(t, f.ArrayLen, "text", 0, false)
	})
}

func checkValue[T comparable](t *testing.T, get func(string) (T, bool), key string, want T, wantOK bool) {
	t.Helper()
	if got, ok := get(key); got != want || ok != wantOK {
		t.Errorf("%s: %v, %v, want %v, %v", key, got, ok, want, wantOK)
	}
}

func TestArrays(t *testing.T) {
	eachEncoding(t, everyType, func(t *testing.T, b *gguftest.Builder) {
		f := read(t, b)
		checkArray(t, f.Ints, "ints", []int64{-1, 0, 300}, true)
		checkArray(t, f.Ints, "i8", []int64{-100}, true)
		checkArray(t, f.Ints, "empty", nil, true)
		checkArray(t, f.Ints, "big", nil, false)
		checkArray(t, f.Ints, "u64", nil, false)
		checkArray(t, f.Ints, "words", nil, false)
		checkArray(t, f.Ints, "missing", nil, false)
		checkArray(t, f.Floats, "floats", []float64{1.5, -2}, true)
		checkArray(t, f.Floats, "f32", []float64{0.5}, true)
		checkArray(t, f.Floats, "empty", nil, false)
		checkArray(t, f.Bools, "bools", []bool{true, false, true}, true)
		checkArray(t, f.Bools, "yes", []bool{true}, true)
		checkArray(t, f.Bools, "ints", nil, false)
	})
}

func checkArray[T comparable](t *testing.T, get func(string) ([]T, bool), key string, want []T, wantOK bool) {
	t.Helper()
	if got, ok := get(key); !slices.Equal(got, want) || ok != wantOK {
		t.Errorf("%s: %v, %v, want %v, %v", key, got, ok, want, wantOK)
	}
}

func TestKeysAndTypes(t *testing.T) {
	f := read(t, everyType())
	want := "general.architecture string|u8 u8|i8 i8|u16 u16|i16 i16|u32 u32|i32 i32|u64 u64|i64 i64|f32 f32|f64 f64|" +
		"yes bool|no bool|text string|none string|words []string|ints []i16|big []u64|floats []f32|bools []bool|empty []u32"
	var got []string
	for _, k := range f.Keys() {
		got = append(got, k+" "+f.Type(k))
	}
	if s := strings.Join(got, "|"); s != want {
		t.Errorf("%s\nwant %s", s, want)
	}
	if f.Type("missing") != "" || f.Architecture() != "llama" || f.Arch("block_count") != "llama.block_count" {
		t.Errorf("%q %q %q", f.Type("missing"), f.Architecture(), f.Arch("block_count"))
	}
}

// Long values are walked over: their length is known, their content is not, and what follows is right.
func TestLongValuesAreNotKept(t *testing.T) {
	long := strings.Repeat("x", 64<<10)
	build := func() *gguftest.Builder {
		return gguftest.New("llama").
			Set("kept", gguftest.Str(long)).Set("text", gguftest.Str(long+"y")).
			Set("keptnums", make(gguftest.Array[gguftest.U8], 65536)).Set("nums", make(gguftest.Array[gguftest.U64], 65537)).
			Set("after", gguftest.U8(7))
	}
	eachEncoding(t, build, func(t *testing.T, b *gguftest.Builder) {
		f := read(t, b)
		checkValue(t, f.String, "kept", long, true)
		checkValue(t, f.String, "text", "", false)
		checkValue(t, f.StringLen, "text", 65537, true)
		checkArray(t, f.Ints, "keptnums", make([]int64, 65536), true)
		checkArray(t, f.Ints, "nums", nil, false)
		checkValue(t, f.ArrayLen, "nums", 65537, true)
		checkValue(t, f.Uint, "after", 7, true)
	})
}

func TestTensors(t *testing.T) {
	build := func() *gguftest.Builder {
		return gguftest.New("llama").
			Tensor("a", dtype.F16, 3, 5).
			Tensor("b", dtype.Q4_K, 256, 2, 1, 7).
			Tensor("c", dtype.F32, 1)
	}
	eachEncoding(t, build, func(t *testing.T, b *gguftest.Builder) {
		f := read(t, b)
		// 3×5 f16 are 30 bytes, 14 blocks of 144 are 2,016 = 63×32.
		want := []gguf.Tensor{
			{Name: "a", Dims: []int64{3, 5}, Type: 1, Format: dtype.F16, Offset: 0, Bytes: 30},
			{Name: "b", Dims: []int64{256, 2, 1, 7}, Type: 12, Format: dtype.Q4_K, Offset: 32, Bytes: 2016},
			{Name: "c", Dims: []int64{1}, Type: 0, Format: dtype.F32, Offset: 2048, Bytes: 4},
		}
		if !slices.EqualFunc(f.Tensors, want, sameTensor) {
			t.Errorf("%+v\nwant %+v", f.Tensors, want)
		}
		if f.Elements() != 15+3584+1 || f.TensorBytes() != 30+2016+4 {
			t.Errorf("%d elements, %d bytes", f.Elements(), f.TensorBytes())
		}
		if f.DataOffset != int64(len(b.Header())) || f.Start(&f.Tensors[1]) != f.DataOffset+32 || f.Size != f.DataOffset+2080 {
			t.Errorf("data at %d, second tensor at %d, size %d", f.DataOffset, f.Start(&f.Tensors[1]), f.Size)
		}
		if f.Version != b.Version || f.BigEndian != b.BigEndian {
			t.Errorf("version %d, big-endian %v", f.Version, f.BigEndian)
		}
	})
}

func sameTensor(a, b gguf.Tensor) bool {
	return a.Name == b.Name && slices.Equal(a.Dims, b.Dims) && a.Type == b.Type && a.Format == b.Format &&
		a.Offset == b.Offset && a.Bytes == b.Bytes && a.Inferred == b.Inferred && a.Shard == b.Shard
}

// Every format of the dtype table has the size that the table says.
func TestEveryFormat(t *testing.T) {
	b := gguftest.New("llama")
	all := slices.Concat(dtype.GGML, dtype.Forked)
	for _, f := range all {
		b.Tensor(f.Name, f, 2*f.BlockElems, 3)
	}
	for i, x := range read(t, b).Tensors {
		if f := all[i]; x.Format != f || x.Bytes != 6*f.BlockBytes+3*f.RowBytes || x.Elements() != 6*f.BlockElems {
			t.Errorf("%s: %+v", f.Name, x)
		}
	}
}

func TestAlignment(t *testing.T) {
	for _, a := range []int64{1, 8, 64, 4096} {
		b := gguftest.New("llama").Set("general.alignment", gguftest.U32(a))
		b.Alignment = a
		b.Tensor("a", dtype.F32, 1).Tensor("b", dtype.F32, 1)
		f := read(t, b)
		if f.Alignment != a || f.DataOffset%a != 0 || f.Tensors[1].Offset != max(a, 4) {
			t.Errorf("alignment %d: %d, data at %d, second tensor at %d", a, f.Alignment, f.DataOffset, f.Tensors[1].Offset)
		}
	}
	if f := read(t, gguftest.New("llama")); f.Alignment != 32 {
		t.Errorf("default alignment %d", f.Alignment)
	}
}

// A type that nobody told us of: its bytes are what lies between the offsets.
func TestUnknownTypes(t *testing.T) {
	b := gguftest.New("llama").
		Tensor("a", dtype.F32, 8).
		Sized(gguftest.Info{Name: "b", Dims: []uint64{100, 3}, Type: 639}, 200).
		Sized(gguftest.Info{Name: "c", Dims: []uint64{7}, Type: 640}, 64).
		Tensor("d", dtype.F32, 8).
		Sized(gguftest.Info{Name: "e", Dims: []uint64{9}, Type: 641}, 33)
	f := read(t, b)
	for i, bytes := range []int64{32, 224, 64, 32, 64} {
		if x := f.Tensors[i]; x.Bytes != bytes || x.Inferred != (x.Format == nil) || x.Inferred != (i != 0 && i != 3) {
			t.Errorf("%+v, want %d bytes", x, bytes)
		}
	}
	if f.Elements() != 8+300+7+8+9 {
		t.Errorf("%d elements", f.Elements())
	}
}

// llama.cpp counted the zero byte behind a string into it until August 2023, when version 3 was not out.
func TestZeroBytesBehindStrings(t *testing.T) {
	build := func() *gguftest.Builder {
		return gguftest.New("llama\x00").Set("llama.block_count\x00", gguftest.U32(2)).Tensor("a\x00", dtype.F32, 1)
	}
	eachEncoding(t, build, func(t *testing.T, b *gguftest.Builder) {
		f, end := read(t, b), ""
		if b.Version == 3 {
			end = "\x00"
		}
		checkValue(t, f.String, "general.architecture", "llama"+end, true)
		checkValue(t, f.Uint, "llama.block_count"+end, 2, true)
		if f.Tensors[0].Name != "a"+end {
			t.Errorf("%q", f.Tensors[0].Name)
		}
	})
}

// A file of metadata alone is whole: vocabularies are published this way.
func TestNoTensors(t *testing.T) {
	b := gguftest.New("llama").Set("k", gguftest.Str("odd"))
	f := read(t, b)
	if len(f.Tensors) != 0 || f.DataOffset != int64(len(b.Infos())) || f.TensorBytes() != 0 || len(f.Shards) != 1 {
		t.Errorf("%+v", f)
	}
}

// The padding behind the last tensor may be missing.
func TestLastPadding(t *testing.T) {
	b := gguftest.New("llama").Tensor("a", dtype.F32, 3)
	s := b.File()
	if _, err := gguf.Read(s, s.Len-20); err != nil {
		t.Error(err)
	}
	if _, err := gguf.Read(s, s.Len-21); err == nil {
		t.Error("a tensor without its last byte was read")
	}
}

func TestReadHeaderFromItsBytesAlone(t *testing.T) {
	b := gguftest.Tiny.Builder()
	s := b.File()
	f, err := gguf.ReadHeader(bytes.NewReader(b.Infos()), int64(len(b.Infos())), s.Len)
	if err != nil || f.Size != s.Len || f.DataOffset != int64(len(s.Head)) {
		t.Errorf("%+v, %v", f, err)
	}
}
